// Forgetting attention: softmax whose scores fall with every token in between by the logarithm of
// that token's forget gate f (Lin et al. 2025, Section 3):
//
//   A_i = softmax_{j ≤ i}(s q_i·k_j + Σ_{j < l ≤ i} ln f_l), s = 1/√d.
//
// ln f is the tensor "log_decay" [H, N] of the layer, which a Forgetting Transformer computes as
// ln σ(w·x + b). Without it every token has the same gate e^−rate, which makes an ALiBi with one
// slope for all heads. The sums are differences of running sums in double. They are defined for
// earlier keys, so that every layer is causal: pictures are read row by row. The output norm and
// the output gate of the paper's "pro" blocks are no part of the map.
#include <limits>
#include <memory>
#include <vector>

#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/score_blocks.h"
#include "core/attention/token_gates.h"

namespace attnscope {

namespace {

class Forgetting final : public ScoreMechanism {
 public:
  explicit Forgetting(double rate) : rate_(rate) {}

 private:
  [[nodiscard]] LayerScores scores(const AttentionInput& input) const override {
    check_sequence(input, "forgetting");
    std::vector<Eigen::RowVectorXd> sums;  // Σ_{l ≤ i} ln f_l of each head
    for (std::int64_t head = 0; head < input.heads; ++head) {
      Eigen::RowVectorXd& sum =
          sums.emplace_back(log_decays(input, head, GateOf::token, rate_).transpose());
      for (Eigen::Index i = 1; i < sum.size(); ++i) sum[i] += sum[i - 1];
    }
    const auto weights = [&input, sums = std::move(sums)](std::int64_t head, std::int64_t first,
                                                          StridedMatrixMap scores) {
      const Eigen::RowVectorXd& sum = sums[static_cast<std::size_t>(head)];
      for (Eigen::Index row = 0; row < scores.rows(); ++row) {
        const Eigen::Index seen = first + row + 1;
        scores.row(row).head(seen) +=
            (sum[seen - 1] - sum.head(seen).array()).matrix().cast<float>();
        scores.row(row)
            .tail(scores.cols() - seen)
            .setConstant(-std::numeric_limits<float>::infinity());
      }
      weigh(input, head, scores);
    };
    return {.fill = scaled_products(input), .weights = weights};
  }

  double rate_;
};

/// Softmax, running sums of ln f, and a difference and a sum more per score. The papers'
/// conventions do not count these.
std::vector<OperationCount> forgetting_counts(const AttentionShape& shape,
                                              CostConvention convention, const TypedValues&) {
  std::vector<OperationCount> counts = costs::softmax(shape, convention);
  if (convention == CostConvention::complete) {
    const Count gates = Count(shape.heads) * shape.keys;
    counts.insert(counts.begin() + 1,
                  costs::moving(costs::component("gates", 0, gates + 2 * gates * shape.queries),
                                convention, 2 * gates + 2 * gates * shape.queries));
  }
  return counts;
}

}  // namespace

MechanismEntry forgetting_entry() {
  return {.name = "forgetting",
          .title = "Forgetting attention",
          .source = "Lin et al. 2025, Section 3",
          .formula = "softmax(QKᵀ/√d + Σ ln f) over earlier keys",
          .rank = "N",
          .complexity = {"N²D + ND²", "N² + ND", "as softmax: DAFT, Table 1"},
          .parameters = {rate_parameter()},
          .tensors = {{"log_decay", "[H, N], ln f of each token", gate_per_token, 0}},
          .counts = forgetting_counts,
          .projections =
              [](std::int64_t width, const AttentionShape& shape, const TypedValues& values) {
                std::vector<Projection> list = separate_projections(width, shape, values);
                list.insert(list.begin() + 3, {"gate projection", width, shape.heads, true});
                return list;
              },
          .make = [](const TypedValues& values) -> std::unique_ptr<Mechanism> {
            return std::make_unique<Forgetting>(values.number("rate"));
          },
          .causal = true,
          .sequential = true,
          .scaled = true,
          .terms = true,
          .tempered = true,
          .rows = true};
}

}  // namespace attnscope
