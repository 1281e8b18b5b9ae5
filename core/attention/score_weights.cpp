// Attention whose weights are other functions of the scores s_ij = q_i·k_j / √d than the softmax.
// n_i is the number of keys that query i sees.
//
//   sigmoid    A_ij = σ(s_ij + b − ln n_i)                      (Ramapuram et al. 2024)
//   relu       A_ij = max(s_ij, 0) / n_i                        (Wortsman et al. 2023)
//   ssmax      A_i  = softmax((f ln n_i + b) s_i)               (Nakanishi 2025)
//   sparsemax  A_ij = max(s_ij − τ_i, 0)                        (Martins and Astudillo 2016)
//   entmax     A_ij = max(s_ij / 2 − τ_i, 0)²                   (Peters et al. 2019, α = 1.5)
//
// τ_i is the threshold with which row i sums to 1. Rows of sigmoid and ReLU have other sums. The
// authors of sigmoid and ReLU attention divide by the length of the whole sequence; n_i is the same
// unless keys are hidden, and keeps a text's beginning independent of what follows.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/attention/costs/costs.h"
#include "core/attention/costs/count.h"
#include "core/attention/kernels/entmax_rows.h"
#include "core/attention/kernels/exponentials.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/score_blocks.h"

namespace attnscope {

namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

/// Turns scores into weights, in place, as WeighScores does.
using WeighInput =
    std::function<void(const AttentionInput& input, std::int64_t head, StridedMatrixMap scores)>;

/// A mechanism whose weights are a function of the scaled products.
class WeighedScores final : public ScoreMechanism {
 public:
  struct Properties {
    bool rows_sum_to_one = true;
    bool takes_sinks = false;  ///< the weights are a softmax, beside which a sink has a share
  };

  WeighedScores(WeighInput weigh, Properties properties)
      : weigh_(std::move(weigh)), properties_(properties) {}

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys),
            .rows_sum_to_one = properties_.rows_sum_to_one};
  }

 private:
  [[nodiscard]] LayerScores scores(const AttentionInput& input) const override {
    if (!properties_.takes_sinks) refuse_sinks(input, choice().name);
    const auto weights = [&input, weigh = weigh_](std::int64_t head, std::int64_t,
                                                  StridedMatrixMap scores) {
      weigh(input, head, scores);
    };
    return {.fill = scaled_products(input), .weights = weights};
  }

  WeighInput weigh_;
  Properties properties_;
};

/// Calls work(scores of a query, number of keys that it sees) for every row.
template <class Work>
void for_each_row(StridedMatrixMap scores, const Work& work) {
  for (std::int64_t i = 0; i < scores.rows(); ++i) {
    const std::span<float> row(scores.data() + i * scores.outerStride(),
                               static_cast<std::size_t>(scores.cols()));
    const auto hidden = std::count(row.begin(), row.end(), kHidden);
    work(row, static_cast<double>(std::max<std::int64_t>(scores.cols() - hidden, 1)));
  }
}

std::unique_ptr<Mechanism> make_sigmoid(const TypedValues& values) {
  const auto weigh = [bias = values.number("bias")](const AttentionInput&, std::int64_t,
                                                    StridedMatrixMap scores) {
    for_each_row(scores, [bias](std::span<float> row, double seen) {
      const auto shift = static_cast<float>(bias - std::log(seen));
      for (float& score : row) score += shift;
      sigmoid(row.data(), std::ssize(row), row.data());
    });
  };
  return std::make_unique<WeighedScores>(weigh,
                                         WeighedScores::Properties{.rows_sum_to_one = false});
}

std::unique_ptr<Mechanism> make_relu(const TypedValues&) {
  const auto weigh = [](const AttentionInput&, std::int64_t, StridedMatrixMap scores) {
    for_each_row(scores, [](std::span<float> row, double seen) {
      const auto share = static_cast<float>(1 / seen);
      for (float& score : row) score = relu(score) * share;
    });
  };
  return std::make_unique<WeighedScores>(weigh,
                                         WeighedScores::Properties{.rows_sum_to_one = false});
}

std::unique_ptr<Mechanism> make_ssmax(const TypedValues& values) {
  const auto weigh_scaled = [factor = values.number("factor"), offset = values.number("offset")](
                                const AttentionInput& input, std::int64_t head,
                                StridedMatrixMap scores) {
    for_each_row(scores, [factor, offset](std::span<float> row, double seen) {
      const auto scale = static_cast<float>(factor * std::log(seen) + offset);
      for (float& score : row) score = score == kHidden ? score : score * scale;
    });
    weigh(input, head, scores);
  };
  return std::make_unique<WeighedScores>(weigh_scaled,
                                         WeighedScores::Properties{.takes_sinks = true});
}

/// The entmax whose weights are powers of the scores above the threshold.
template <int kPower>
std::unique_ptr<Mechanism> make_entmax(const TypedValues&) {
  const auto weigh = [](const AttentionInput&, std::int64_t, StridedMatrixMap scores) {
    entmax_rows(scores, kPower);
  };
  return std::make_unique<WeighedScores>(weigh, WeighedScores::Properties{});
}

/// Operations of the step from scores to weights, per score; thresholds have some per row too.
struct WeightCosts {
  std::int64_t multiplications = 1;  ///< scaling by 1/√d
  std::int64_t additions = 0, exponentials = 0, divisions = 0;
  bool sorts = false;  ///< the scores of each row are sorted, by merging
  std::int64_t additions_of_a_row = 0, divisions_of_a_row = 0;
};

std::vector<OperationCount> counts_of(const WeightCosts& weights, const AttentionShape& shape,
                                      CostConvention convention) {
  std::vector<OperationCount> counts = costs::softmax(shape, convention);
  OperationCount& step = counts[1];
  step.component = "weights";
  if (convention != CostConvention::complete) return counts;
  const Count rows = Count(shape.heads) * shape.queries, scores = rows * shape.keys;
  const auto comparisons =
      weights.sorts
          ? static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(shape.keys - 1)))
          : std::int64_t{0};
  step.multiplications = (weights.multiplications * scores).value();
  step.additions =
      ((weights.additions + comparisons) * scores + weights.additions_of_a_row * rows).value();
  step.exponentials = (weights.exponentials * scores).value();
  step.divisions = (weights.divisions * scores + weights.divisions_of_a_row * rows).value();
  return counts;
}

/// The entry of a mechanism of this file, without settings and functions.
MechanismEntry entry_of_scores(std::string_view name, std::string_view title,
                               std::string_view source, std::string_view formula) {
  return {.name = name,
          .title = title,
          .source = source,
          .formula = formula,
          .rank = "N",
          .complexity = {"N²D + ND²", "N² + ND", "as softmax: DAFT, Table 1"},
          .projections = separate_projections,
          .causal = true,
          .scaled = true,
          .terms = true,
          .rows = true};
}

}  // namespace

MechanismEntry sigmoid_entry() {
  MechanismEntry entry = entry_of_scores("sigmoid", "Sigmoid attention", "Ramapuram et al. 2024",
                                         "σ(QKᵀ/√d + b − ln n)");
  entry.parameters = {
      setting::number("bias", 0, {-100, 100}, "b, added to −ln n for n keys that a query sees")};
  entry.counts = [](const AttentionShape& shape, CostConvention convention, const TypedValues&) {
    // The bias; 1 + exp(−x), and its reciprocal.
    return counts_of({.additions = 2, .exponentials = 1, .divisions = 1}, shape, convention);
  };
  entry.make = make_sigmoid;
  return entry;
}

MechanismEntry relu_entry() {
  MechanismEntry entry =
      entry_of_scores("relu", "ReLU attention", "Wortsman et al. 2023", "max(QKᵀ/√d, 0) / n");
  entry.counts = [](const AttentionShape& shape, CostConvention convention, const TypedValues&) {
    return counts_of({.additions = 1}, shape, convention);  // the comparison; 1/n is in the scale
  };
  entry.make = make_relu;
  return entry;
}

MechanismEntry ssmax_entry() {
  MechanismEntry entry = entry_of_scores("ssmax", "Scalable softmax", "Nakanishi 2025",
                                         "softmax((f ln n + b) QKᵀ/√d)");
  entry.parameters = {
      setting::number("factor", 1, {0, 100}, "f, factor of ln n for n keys that a query sees"),
      setting::number("offset", 0, {0, 100}, "b, added to f ln n")};
  entry.counts = [](const AttentionShape& shape, CostConvention convention, const TypedValues&) {
    return costs::softmax(shape, convention);  // f ln n + b is in the scale
  };
  entry.make = make_ssmax;
  entry.tempered = true;
  return entry;
}

MechanismEntry sparsemax_entry() {
  MechanismEntry entry =
      entry_of_scores("sparsemax", "Sparsemax", "Martins and Astudillo 2016, Algorithm 1",
                      "max(QKᵀ/√d − τ, 0), rows sum to 1");
  entry.counts = [](const AttentionShape& shape, CostConvention convention, const TypedValues&) {
    // For the k largest scores s_1 ≥ … ≥ s_k, with their sum t: t, and 1 + k·s_k > t. For every
    // weight a difference and a comparison. Once a row: τ = (t − 1) / k.
    return counts_of({.multiplications = 2,
                      .additions = 5,
                      .sorts = true,
                      .additions_of_a_row = 1,
                      .divisions_of_a_row = 1},
                     shape, convention);
  };
  entry.make = make_entmax<1>;
  return entry;
}

MechanismEntry entmax_entry() {
  MechanismEntry entry = entry_of_scores("entmax", "1.5-entmax", "Peters et al. 2019, Algorithm 2",
                                         "max(QKᵀ/(2√d) − τ, 0)², rows sum to 1");
  entry.counts = [](const AttentionShape& shape, CostConvention convention, const TypedValues&) {
    // For the k largest scores, with their sum t and that of their squares u: t, u, the mean t / k,
    // δ = (1 − (u − t · mean)) / k, at least 0, τ = mean − √δ, and whether τ ≤ s_k. For every
    // weight a difference, a comparison and a square.
    return counts_of(
        {.multiplications = 4, .additions = 9, .exponentials = 1, .divisions = 2, .sorts = true},
        shape, convention);
  };
  entry.make = make_entmax<2>;
  return entry;
}

}  // namespace attnscope
