#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/error.h"

namespace attnscope::costs {

void check(const AttentionShape& shape) {
  const std::pair<const char*, std::int64_t> extents[] = {{"queries", shape.queries},
                                                          {"keys", shape.keys},
                                                          {"heads", shape.heads},
                                                          {"head width", shape.head_width},
                                                          {"value width", shape.value_width}};
  for (const auto& [name, extent] : extents) {
    if (extent <= 0) {
      throw Error(ErrorKind::usage, "a dimension of the attention layer is not positive")
          .about(name)
          .expected("1 or more")
          .found(std::to_string(extent));
    }
  }
}

OperationCount softmax_rows(std::int64_t rows, std::int64_t columns, CostConvention convention) {
  const Count scores = Count(rows) * columns;
  OperationCount count{.component = "softmax"};
  if (convention == CostConvention::ecoformer) count.multiplications = scores.value();
  if (convention == CostConvention::complete) {
    count.multiplications = scores.value();  // scaling by 1/√d
    count.additions = (3 * scores).value();  // maximum, difference, sum
    count.exponentials = scores.value();
    count.divisions = scores.value();
    count = moving(count, convention, 2 * scores);
  }
  return count;
}

OperationCounts softmax(const AttentionShape& shape, CostConvention convention) {
  check(shape);
  const Count n = shape.queries, m = shape.keys, h = shape.heads, d = shape.head_width,
              dv = shape.value_width;
  return {moving(accumulated("scores", h * n * m * d), convention, h * ((n + m) * d + n * m)),
          softmax_rows((h * n).value(), shape.keys, convention),
          moving(accumulated("values", h * n * m * dv), convention, h * ((n + m) * dv + n * m))};
}

}  // namespace attnscope::costs
