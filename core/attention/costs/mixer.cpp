#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/features.h"

namespace attnscope::costs {

OperationCounts mixer(const AttentionShape& shape, CostConvention convention,
                      std::int64_t expansion) {
  check(shape);
  check_shared("mixer", shape);
  check_positive("expansion", expansion);
  const Count n = shape.queries, width = Count(shape.heads) * shape.value_width,
              hidden = expansion * n;
  const Count products = 2 * width * n * hidden;
  OperationCount mixing = accumulated("token mixing", products);
  if (convention == CostConvention::complete) {
    // Operations: biases, and GELU x/2 · (1 + erf(x/√2)).
    mixing.multiplications = (products + 3 * width * hidden).value();
    mixing.additions = (products + width * (2 * hidden + n)).value();
    mixing.exponentials = (width * hidden).value();
    mixing = moving(mixing, convention, 2 * width * (n + 2 * hidden) + 2 * n * hidden);
  }
  return {mixing};
}

}  // namespace attnscope::costs
