// Differential attention (Ye et al. 2024, Eq. 1): each head compares the two halves of its queries
// and keys separately, and subtracts the second map from the first,
//
//   A = softmax(Q₁K₁ᵀ/√(d/2)) − λ softmax(Q₂K₂ᵀ/√(d/2)),
//   λ = exp(λ_q1·λ_k1) − exp(λ_q2·λ_k2) + λ₀,   λ₀ = 0.8 − 0.6 exp(−0.3 l) in layer l = 0, 1, ….
//
// Rows sum to 1 − λ, and weights may be negative. Parameters: "lambda_q1", "lambda_k1",
// "lambda_q2", "lambda_k2" [d/2], shared by the heads; without them λ is λ₀. The normalisation of
// each head's output that follows in the authors' layer, and its factor 1 − λ₀, are no part of the
// map. Of an odd width d the first half is the larger; an empty half compares nothing: its map is
// even.
#include <algorithm>
#include <cmath>
#include <memory>

#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/count.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/random_parameters.h"
#include "core/attention/score_blocks.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

constexpr std::int64_t half_width(std::int64_t width) {
  return std::max<std::int64_t>(width / 2, 1);
}

}  // namespace

double initial_lambda(std::int64_t layer) {
  return 0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(layer));
}

namespace {

class Differential final : public ScoreMechanism {
 public:
  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys),
            .rows_sum_to_one = false,
            .non_negative = false};
  }

 private:
  enum class Half { first, second };

  static ConstStridedMatrixMap columns_of(ConstStridedMatrixMap head, Half half) {
    const std::int64_t second = head.cols() / 2, first = head.cols() - second;
    return {half == Half::first ? head.data() : head.data() + first, head.rows(),
            half == Half::first ? first : second, Eigen::OuterStride<>(head.outerStride())};
  }

  /// Scores of one half of each head. A model's own scale is that of whole heads: it is
  /// multiplied by √(d / width of the half).
  static FillScores half_scores(const AttentionInput& input, Half half) {
    return [&input, half](std::int64_t head, std::int64_t first, StridedMatrixMap block) {
      const ConstStridedMatrixMap all =
          columns_of(head_columns(input.queries, input.heads, head), half);
      const ConstStridedMatrixMap queries(all.data() + first * all.outerStride(), block.rows(),
                                          all.cols(), Eigen::OuterStride<>(all.outerStride()));
      if (all.cols() == 0) {
        block.setZero();
        return;
      }
      const auto width = static_cast<double>(input.shape().head_width);
      const double of_width = input.scale.value_or(1 / std::sqrt(width)) * std::sqrt(width);
      multiply_transposed(queries, columns_of(key_columns(input, head), half),
                          static_cast<float>(of_width / std::sqrt(static_cast<double>(all.cols()))),
                          block);
    };
  }

  /// λ of the input's layer and head.
  static float lambda(const AttentionInput& input, std::int64_t head) {
    const std::int64_t width = half_width(input.shape().head_width);
    const auto product = [&](const char* query_name, const char* key_name) {
      const Tensor* const query =
          find_parameter(input.parameters, query_name, input.heads, {width});
      const Tensor* const key = find_parameter(input.parameters, key_name, input.heads, {width});
      if (!query || !key) return 0.0;
      return (of_head(*query, head, 1, width)
                  .cast<double>()
                  .cwiseProduct(of_head(*key, head, 1, width).cast<double>()))
          .sum();
    };
    return static_cast<float>(std::exp(product("lambda_q1", "lambda_k1")) -
                              std::exp(product("lambda_q2", "lambda_k2")) +
                              initial_lambda(input.layer));
  }

  [[nodiscard]] LayerScores scores(const AttentionInput& input) const override {
    check_shapes(input);
    refuse_sinks(input, "differential");
    Eigen::VectorXf factors(input.heads);
    for (std::int64_t head = 0; head < input.heads; ++head) factors[head] = lambda(input, head);
    const auto difference = [&input, factors, fill = half_scores(input, Half::second)](
                                std::int64_t head, std::int64_t first, StridedMatrixMap scores) {
      weigh(input, head, scores);
      Matrix second(scores.rows(), scores.cols());
      const StridedMatrixMap others(second.data(), second.rows(), second.cols(),
                                    Eigen::OuterStride<>(second.cols()));
      fill(head, first, others);
      add_terms(input, head, first, others);
      weigh(input, head, others);
      scores -= factors[head] * second;
    };
    return {.fill = half_scores(input, Half::first), .weights = difference};
  }
};

/// Products of both halves cost as much as those of a whole head; the second softmax, λ and the
/// difference come in addition.
std::vector<OperationCount> differential_counts(const AttentionShape& shape,
                                                CostConvention convention, const TypedValues&) {
  std::vector<OperationCount> counts = costs::softmax(shape, convention);
  const Count cells = Count(shape.heads) * shape.queries * shape.keys;
  OperationCount& softmax = counts[1];
  const OperationCount one = softmax;
  softmax.multiplications = (2 * Count(one.multiplications)).value();
  softmax.additions = (2 * Count(one.additions)).value();
  softmax.exponentials = (2 * Count(one.exponentials)).value();
  softmax.divisions = (2 * Count(one.divisions)).value();
  softmax.bytes_moved = (2 * Count(one.bytes_moved)).value();
  if (convention == CostConvention::complete) {
    counts.insert(counts.begin() + 2, costs::moving(costs::component("difference", cells, cells),
                                                    convention, 3 * cells));
  }
  return counts;
}

}  // namespace

MechanismEntry differential_entry() {
  constexpr auto half = [](const AttentionShape& shape,
                           const TypedValues&) -> std::optional<Shape> {
    return Shape{half_width(shape.head_width)};
  };
  return {.name = "differential",
          .title = "Differential attention",
          .source = "Ye et al. 2024, Eq. 1",
          .formula = "softmax(Q₁K₁ᵀ/√(d/2)) − λ softmax(Q₂K₂ᵀ/√(d/2))",
          .rank = "N",
          .complexity = {"N²D + ND²", "N² + ND", "as softmax: DAFT, Table 1"},
          .tensors = {{"lambda_q1", "[d/2], λ_q1 of λ", half},
                      {"lambda_k1", "[d/2], λ_k1 of λ", half},
                      {"lambda_q2", "[d/2], λ_q2 of λ", half},
                      {"lambda_k2", "[d/2], λ_k2 of λ", half}},
          .counts = differential_counts,
          .projections = separate_projections,
          .make = [](const TypedValues&) -> std::unique_ptr<Mechanism> {
            return std::make_unique<Differential>();
          },
          .causal = true,
          .scaled = true,
          .terms = true,
          .rows = true};
}

}  // namespace attnscope
