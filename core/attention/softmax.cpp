// Softmax attention (Adder, Eq. 3; Vaswani et al. 2017, Eq. 1).
#include "core/attention/costs/costs.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/score_blocks.h"

namespace attnscope {

namespace {

class Softmax final : public Mechanism {
 public:
  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    return attend_by_blocks(input, scaled_products(input));
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    return map_by_blocks(input, scaled_products(input));
  }

  [[nodiscard]] Attended forward_with_map(const AttentionInput& input) const override {
    return attend_with_map_by_blocks(input, scaled_products(input));
  }

  [[nodiscard]] MapRows map_rows(const AttentionInput& input) const override {
    return rows_of_scores(input, scaled_products(input));
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys)};
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
