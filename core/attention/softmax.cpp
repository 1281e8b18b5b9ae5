// Softmax attention (Adder, Eq. 3; Vaswani et al. 2017, Eq. 1).
#include "core/attention/costs/costs.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/score_blocks.h"

namespace attnscope {

namespace {

class Softmax final : public ScoreMechanism {
  [[nodiscard]] LayerScores scores(const AttentionInput& input) const override {
    return {scaled_products(input)};
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
