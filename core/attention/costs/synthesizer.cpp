#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/features.h"

namespace attnscope::costs {

OperationCounts synthesizer(const AttentionShape& shape, CostConvention convention,
                            ScoreSource source, std::int64_t factors) {
  OperationCounts counts = softmax(shape, convention);
  const Count h = shape.heads, n = shape.queries, m = shape.keys, d = shape.head_width;
  const bool complete = convention == CostConvention::complete;
  switch (source) {
    case ScoreSource::random:
      counts[0] = moving(component("scores", 0, 0), convention, h * n * m);
      break;
    case ScoreSource::factorised:
      check_positive("factors", factors);
      counts[0] = moving(accumulated("scores", h * n * m * factors), convention,
                         h * ((n + m) * factors + n * m));
      break;
    case ScoreSource::dense: {
      // Scores relu(x·W1 + b1)·W2 + b2, widths d → d → M.
      const Count products = h * n * d * (d + m);
      const Count elementwise = complete ? h * n * (2 * d + m) : Count(0);
      counts[0] = moving(component("scores", products, products + elementwise), convention,
                         h * (3 * n * d + n * m + d * (d + m)));
      break;
    }
  }
  // Synthesized scores are not scaled.
  counts[1].multiplications = 0;
  return counts;
}

}  // namespace attnscope::costs
