#include "core/attention/softmax_cost.h"

namespace attnscope {

namespace {

constexpr std::int64_t kFloatBytes = 4;

}  // namespace

std::int64_t score_bytes(const AttentionShape& shape) {
  return kFloatBytes * shape.heads *
         ((shape.queries + shape.keys) * shape.head_width + shape.queries * shape.keys);
}

OperationCount softmax_cost(const AttentionShape& shape, CostConvention convention) {
  const std::int64_t pairs = shape.heads * shape.queries * shape.keys;
  const std::int64_t rows = shape.heads * shape.queries;
  OperationCount count{.component = "softmax"};
  switch (convention) {
    case CostConvention::adder:
      break;
    case CostConvention::ecoformer:
      count.multiplications = pairs;
      break;
    case CostConvention::complete:
      // Maximum, difference and sum; exponential; one reciprocal a row and its product.
      count.additions = 3 * pairs - 2 * rows;
      count.exponentials = pairs;
      count.divisions = rows;
      count.multiplications = pairs;
      count.bytes_moved = 2 * kFloatBytes * pairs;
      break;
  }
  return count;
}

OperationCount value_cost(const AttentionShape& shape, CostConvention convention) {
  const std::int64_t pairs = shape.heads * shape.queries * shape.keys;
  OperationCount count{.component = "values",
                       .multiplications = pairs * shape.value_width,
                       .additions = pairs * shape.value_width};
  if (convention == CostConvention::complete) {
    count.bytes_moved =
        kFloatBytes * (pairs + shape.heads * (shape.keys + shape.queries) * shape.value_width);
  }
  return count;
}

}  // namespace attnscope
