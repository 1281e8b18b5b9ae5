// cosFormer: relu(q_i)·relu(k_j) cos(π/2 · (i − j)/M), normalised, instead of a softmax (Qin et al.
// 2022, Section 3). cos(a − b) = cos a cos b + sin a sin b makes it linear attention over 2d
// features, relu(x) cos(π/2 · i/M) and relu(x) sin(π/2 · i/M) for the token at position i. The cost
// is linear in the number of tokens.
//
// Like in the authors' code, a row whose weights sum to less than 10⁻⁶ is divided by 10⁻⁶. The row
// of a query without positive channels is 0.
#include <cmath>
#include <numbers>
#include <string>
#include <tbb/parallel_for.h>

#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/features.h"
#include "core/attention/kernels/exponentials.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/score_blocks.h"
#include "core/error.h"
#include "core/tensor/blas.h"
#include "core/tensor/tensor.h"

namespace attnscope {

namespace {

constexpr double kLeastSum = 1e-6;

/// Features [rows, 2d] of one head's rows at positions 0, 1, ….
Matrix features(const ConstStridedMatrixMap& rows, std::int64_t span) {
  const Eigen::Index d = rows.cols();
  Matrix both(rows.rows(), 2 * d);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const double angle = std::numbers::pi / 2 * static_cast<double>(i) / static_cast<double>(span);
    const auto positive = rows.row(i).unaryExpr(&relu);
    both.row(i).head(d) = static_cast<float>(std::cos(angle)) * positive;
    both.row(i).tail(d) = static_cast<float>(std::sin(angle)) * positive;
  }
  return both;
}

/// The divisor of a row with this sum of weights. NaN stays NaN.
double divisor(double sum) { return sum < kLeastSum ? kLeastSum : sum; }

/// Causal attention by running sums in double. Later tokens do not change a bit of earlier results.
void sum_causally(const Matrix& queries, const Matrix& keys, const ConstStridedMatrixMap& values,
                  StridedMatrixMap out) {
  MatrixD products = MatrixD::Zero(keys.cols(), values.cols());
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(keys.cols());
  for (Eigen::Index i = 0; i < queries.rows(); ++i) {
    const Eigen::VectorXd key = keys.row(i).cast<double>(), query = queries.row(i).cast<double>();
    products.noalias() += key * values.row(i).cast<double>();
    sum += key;
    out.row(i) = (query.transpose() * products / divisor(query.dot(sum))).cast<float>();
  }
}

class CosFormer final : public Mechanism {
 public:
  explicit CosFormer(std::int64_t span) : span_(span) {}

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    const std::int64_t span = check(input), width = input.values.cols() / input.heads;
    Tensor output({input.queries.rows(), input.values.cols()});
    if (output.size() == 0 || input.keys.rows() == 0) return output;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Matrix queries = features(head_columns(input.queries, input.heads, head), span);
      const Matrix keys = features(head_columns(input.keys, input.heads, head), span);
      const ConstStridedMatrixMap values = head_columns(input.values, input.heads, head);
      StridedMatrixMap out(output.data() + head * width, queries.rows(), width,
                           Eigen::OuterStride<>(input.values.cols()));
      if (input.causal) return sum_causally(queries, keys, values, out);
      const Matrix transposed = keys.transpose();
      Matrix products(keys.cols(), width);
      multiply(strided(transposed), values, 1.0F, strided_output(products));
      multiply(strided(queries), strided(products), 1.0F, out);
      const Eigen::VectorXd sums = row_sums(queries, keys);
      for (Eigen::Index i = 0; i < out.rows(); ++i) out.row(i) /= static_cast<float>(sums(i));
    });
    return output;
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    const std::int64_t span = check(input);
    Tensor map({input.heads, input.queries.rows(), input.keys.rows()});
    if (map.size() == 0) return map;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Matrix queries = features(head_columns(input.queries, input.heads, head), span);
      const Matrix keys = features(head_columns(input.keys, input.heads, head), span);
      MatrixMap weights = map.slice(head);
      multiply_transposed(
          strided(queries), strided(keys), 1.0F,
          {weights.data(), weights.rows(), weights.cols(), Eigen::OuterStride<>(weights.cols())});
      for (Eigen::Index i = 0; i < weights.rows(); ++i) {
        if (input.causal) weights.row(i).tail(weights.cols() - i - 1).setZero();
        weights.row(i) /= static_cast<float>(divisor(weights.row(i).cast<double>().sum()));
      }
    });
    return map;
  }

  /// Factors with 2d columns: φ(Q) divided by the row sums of the map, and φ(K).
  [[nodiscard]] std::optional<MapFactors> factors(const AttentionInput& input) const override {
    const std::int64_t span = check(input), n = input.queries.rows(), m = input.keys.rows();
    const std::int64_t count = 2 * (input.keys.cols() / input.heads);
    if (input.causal || count >= std::min(n, m)) return std::nullopt;
    MapFactors factors{Tensor({input.heads, n, count}), Tensor({input.heads, m, count})};
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      Matrix queries = features(head_columns(input.queries, input.heads, head), span);
      Matrix keys = features(head_columns(input.keys, input.heads, head), span);
      const Eigen::VectorXd sums = row_sums(queries, keys);
      for (Eigen::Index i = 0; i < n; ++i) queries.row(i) /= static_cast<float>(sums(i));
      factors.left.slice(head) = queries;
      factors.right.slice(head) = keys;
    });
    return factors;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min({shape.queries, shape.keys, 2 * shape.head_width}),
            .rows_sum_to_one = false};  // rows of queries without positive channels are 0
  }

 private:
  /// Checks the shapes and returns M for this input.
  [[nodiscard]] std::int64_t check(const AttentionInput& input) const {
    check_shapes(input);
    // In a causal text, M must not depend on the text's length: more tokens would change earlier
    // results.
    constexpr std::int64_t kUsualText = 1024;
    const std::int64_t tokens = std::max(input.queries.rows(), input.keys.rows());
    const std::int64_t span = span_ > 0 ? span_ : input.causal ? kUsualText : tokens;
    if (span < tokens) {
      throw Error(ErrorKind::usage, "the cosine turns negative beyond M tokens")
          .about("cosformer span")
          .expected(std::to_string(tokens) + " or more")
          .found(std::to_string(span))
          .remedy("set span=" + std::to_string(tokens));
    }
    return std::max<std::int64_t>(span, 1);
  }

  static Eigen::VectorXd row_sums(const Matrix& queries, const Matrix& keys) {
    const Eigen::VectorXd key_sum = keys.cast<double>().colwise().sum();
    const Eigen::VectorXd sums = queries.cast<double>() * key_sum;
    return sums.unaryExpr(&divisor);
  }

  std::int64_t span_;  ///< M; 0: derived from the input
};

/// Linear attention over 2d features. The least divisor costs one comparison per row.
std::vector<OperationCount> counts(const AttentionShape& shape, CostConvention convention,
                                   const TypedValues&) {
  costs::check(shape);
  const Count tokens = Count(shape.queries) + shape.keys;
  const Count elements = shape.heads * tokens * shape.head_width;
  OperationCount features = costs::component("features", 0, 0);
  if (convention != CostConvention::adder) {
    features = costs::component("features", 2 * elements, 0);
  }
  if (convention == CostConvention::complete) {
    // The angle of a token, its cosine and sine; max(x, 0).
    features = costs::component("features", 2 * elements + tokens, elements);
    features.exponentials = (2 * tokens).value();
    features = costs::moving(features, convention, 3 * elements);
  }
  std::vector<OperationCount> counts = {features};
  costs::append_linear_attention(counts, shape, convention, 2 * Count(shape.head_width));
  if (convention == CostConvention::complete) {
    OperationCount& normaliser = counts[2];
    normaliser.additions =
        (Count(normaliser.additions) + Count(shape.heads) * shape.queries).value();
  }
  return counts;
}

}  // namespace

MechanismEntry cosformer_entry() {
  return {.name = "cosformer",
          .title = "cosFormer",
          .source = "Qin et al. 2022, Section 3",
          .formula = "relu(q)·relu(k) cos(π(i − j)/2M), normalised",
          .rank = "2d; N if causal",
          .complexity = {"ND²", "ND + D²", "Qin et al. 2022, Section 3"},
          .parameters = {setting::whole("span", 0, {0, 1e9},
                                        "M, tokens over which the cosine falls to 0; 0: as many as "
                                        "there are, in causal layers 1024")
                             .in("tokens")},
          .counts = counts,
          .projections = separate_projections,
          .make = [](const TypedValues& values) -> std::unique_ptr<Mechanism> {
            return std::make_unique<CosFormer>(values.whole("span"));
          },
          .causal = true};
}

}  // namespace attnscope
