// Softmax attention (Adder, Eq. 3; Vaswani et al. 2017, Eq. 1).
#include <cmath>

#include "core/attention/costs/costs.h"
#include "core/attention/mechanism.h"
#include "core/attention/score_blocks.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

class Softmax final : public Mechanism {
 public:
  [[nodiscard]] MechanismChoice choice() const override { return {"softmax", {}}; }

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    return attend_by_blocks(input, scores(input));
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    return map_by_blocks(input, scores(input));
  }

  [[nodiscard]] std::vector<OperationCount> cost(const AttentionShape& shape,
                                                 CostConvention convention) const override {
    return costs::softmax(shape, convention);
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys)};
  }

 private:
  /// q·k / √d.
  static FillScores scores(const AttentionInput& input) {
    return [&input](std::int64_t head, std::int64_t first, StridedMatrixMap block) {
      const ConstStridedMatrixMap queries = head_columns(input.queries, input.heads, head);
      const ConstStridedMatrixMap keys = head_columns(input.keys, input.heads, head);
      const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(keys.cols())));
      multiply_transposed({queries.data() + first * queries.outerStride(), block.rows(),
                           queries.cols(), Eigen::OuterStride<>(queries.outerStride())},
                          keys, scale, block);
    };
  }
};

}  // namespace

MechanismEntry softmax_entry() {
  return {"softmax",
          "Softmax attention",
          "Vaswani et al. 2017, Eq. 1",
          {},
          {},
          [](const ParameterValues&) -> std::unique_ptr<const Mechanism> {
            return std::make_unique<Softmax>();
          },
          true};
}

}  // namespace attnscope
