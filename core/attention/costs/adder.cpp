#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"

namespace attnscope::costs {

OperationCounts adder(const AttentionShape& shape, CostConvention convention, bool identity,
                      bool identity_products) {
  OperationCounts counts = softmax(shape, convention);
  const Count n = shape.queries, m = shape.keys, h = shape.heads, d = shape.head_width,
              dv = shape.value_width;
  counts[0].multiplications = 0;
  counts[0].additions = (2 * h * n * m * d).value();
  if (identity || identity_products) {
    const Count products = identity_products ? h * n * dv : Count(0);
    const Count sums = convention == CostConvention::complete ? h * n * dv : Count(0);
    counts.push_back(moving(component("identity", products, sums), convention, 3 * h * n * dv));
  }
  return counts;
}

}  // namespace attnscope::costs
