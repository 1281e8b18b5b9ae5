// Softmax attention (Adder, Eq. 3; Vaswani et al. 2017, Eq. 1).
#include "core/attention/costs/costs.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/score_blocks.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

class Softmax final : public Mechanism {
 public:
  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    return attend_by_blocks(input, scores(input));
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    return map_by_blocks(input, scores(input));
  }

  [[nodiscard]] Attended forward_with_map(const AttentionInput& input) const override {
    return attend_with_map_by_blocks(input, scores(input));
  }

  [[nodiscard]] MapRows map_rows(const AttentionInput& input) const override {
    return rows_of_scores(input, scores(input));
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys)};
  }

 private:
  /// Scores q·k / √d, or with the model's own scale.
  static FillScores scores(const AttentionInput& input) {
    return [&input](std::int64_t head, std::int64_t first, StridedMatrixMap block) {
      const ConstStridedMatrixMap queries = head_columns(input.queries, input.heads, head);
      const ConstStridedMatrixMap keys = key_columns(input, head);
      const auto scale = static_cast<float>(input.score_scale());
      multiply_transposed({queries.data() + first * queries.outerStride(), block.rows(),
                           queries.cols(), Eigen::OuterStride<>(queries.outerStride())},
                          keys, scale, block);
    };
  }
};

}  // namespace

MechanismEntry softmax_entry() {
  return {.name = "softmax",
          .title = "Softmax attention",
          .source = "Vaswani et al. 2017, Eq. 1",
          .formula = "softmax(QKᵀ/√d)",
          .rank = "N",
          .complexity = {"N²D + ND²", "N² + ND", "DAFT, Table 1"},
          .counts = [](const AttentionShape& shape, CostConvention convention,
                       const TypedValues&) { return costs::softmax(shape, convention); },
          .projections = separate_projections,
          .make = [](const TypedValues&) -> std::unique_ptr<Mechanism> {
            return std::make_unique<Softmax>();
          },
          .causal = true,
          .scaled = true,
          .terms = true,
          .tempered = true,
          .rows = true};
}

}  // namespace attnscope
