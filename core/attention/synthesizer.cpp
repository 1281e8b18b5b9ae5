// Synthesizer: softmax of scores that do not compare queries with keys (Tay et al. 2020). Random:
// learned scores R, the same for every input (Eq. 5), or their factors R1·R2ᵀ (Section 3.2.2).
// Dense: predicted from the token itself, W2·ReLU(W1·x + b1) + b2 (Eq. 2); x is the head's query
// here.
//
// Parameters: random "R" [N, M]; factorised "R1" [N, k], "R2" [M, k]; dense "W1" [d, d], "b1" [d],
// "W2" [M, d], "b2" [M]; each optionally with the heads as first dimension. Models without them use
// normal numbers, different in each layer, with variance 1 (R and R1·R2ᵀ), 2/d (W1) and 1/d (W2),
// and no biases.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/attention/costs/costs.h"
#include "core/attention/kernels/exponentials.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/random_parameters.h"
#include "core/attention/score_blocks.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

using ScoreKind = costs::ScoreSource;
constexpr EnumName<ScoreKind> score_names[] = {{ScoreKind::dense, "dense"},
                                               {ScoreKind::random, "random"},
                                               {ScoreKind::factorised, "factorised"}};

std::vector<ParameterDescription> synthesizer_parameters() {
  return {
      setting::choice("scores", names_of(score_names), "dense",
                      "dense: predicted from each token; random: the same for every input; "
                      "factorised: random, as a product of two narrow matrices"),
      setting::whole("factors", 8, {1, 1e6}, "k, columns of the two matrices of factorised scores"),
      seed_parameter("the scores and weights"),
  };
}

/// One head's scores as left · rightᵀ plus a bias per key.
struct ScoreFactors {
  Matrix left;   ///< [N, k]
  Matrix right;  ///< [M, k]
  Eigen::RowVectorXf bias;
};

class Synthesizer final : public ScoreMechanism {
 public:
  Synthesizer(ScoreKind scores, std::int64_t factors, std::int64_t seed)
      : scores_(scores), factors_(factors), seed_(seed) {}

  // The parameters of all heads are computed for every call.
  [[nodiscard]] MapRows map_rows(const AttentionInput&) const override { return {}; }

 private:
  /// One dimension of a tensor. `tokens`: the dimension has one entry per token.
  struct Extent {
    std::int64_t size;
    bool tokens = false;
  };

  /// One head's share of the layer's tensor `name`. If missing, normal numbers with standard
  /// deviation `deviation`, one stream per row, so earlier tokens' numbers do not depend on the
  /// text's length. `part` distinguishes the parameters of a head.
  [[nodiscard]] Matrix own(const AttentionInput& input, const char* name, std::int64_t head,
                           std::vector<Extent> extents, double deviation, std::int64_t part) const {
    const std::int64_t rows = extents[0].size;
    const std::int64_t columns = extents.size() > 1 ? extents[1].size : 1;
    Shape stored;
    for (const Extent& extent : extents) stored.push_back(extent.size);
    const auto given = input.parameters == nullptr ? NamedTensors::const_iterator()
                                                   : input.parameters->find(std::string_view(name));
    if (input.parameters == nullptr || given == input.parameters->end()) {
      if (deviation == 0) return Matrix::Zero(rows, columns);
      return (deviation * rows_of_streams(seed_, input.layer, 4 * head + part, rows, columns))
          .cast<float>();
    }
    // Texts use the first entries of a tensor that was learned for the longest texts.
    const bool any_length = input.causal || (input.layout && input.layout->is_text());
    const Shape& there = given->second.shape();
    for (std::size_t i = 0; any_length && i < stored.size() && there.size() >= stored.size(); ++i) {
      const std::int64_t size = there[there.size() - stored.size() + i];
      if (extents[i].tokens) stored[i] = std::max(stored[i], size);
    }
    (void)find_parameter(input.parameters, name, input.heads, stored);  // checks the shape
    return of_head(given->second, head, stored[0], stored.size() > 1 ? stored[1] : 1)
        .topLeftCorner(rows, columns);
  }

  [[nodiscard]] ScoreFactors factors_of(const AttentionInput& input, std::int64_t head) const {
    const Extent n{input.queries.rows(), true}, m{input.keys.rows(), true};
    if (scores_ == ScoreKind::factorised) {
      const double deviation = std::pow(static_cast<double>(factors_), -0.25);
      return {own(input, "R1", head, {n, {factors_}}, deviation, 0),
              own(input, "R2", head, {m, {factors_}}, deviation, 1),
              Eigen::RowVectorXf::Zero(m.size)};
    }
    const Extent d{input.queries.cols() / input.heads};
    const double width = static_cast<double>(std::max<std::int64_t>(d.size, 1));
    const Matrix w1 = own(input, "W1", head, {d, d}, std::sqrt(2 / width), 0);
    const Matrix b1 = own(input, "b1", head, {d}, 0, 0);
    Matrix hidden(n.size, d.size);
    multiply_transposed(head_columns(input.queries, input.heads, head),
                        {w1.data(), d.size, d.size, Eigen::OuterStride<>(d.size)}, 1.0F,
                        {hidden.data(), n.size, d.size, Eigen::OuterStride<>(d.size)});
    hidden.rowwise() += b1.col(0).transpose();
    return {hidden.unaryExpr(&relu), own(input, "W2", head, {m, d}, std::sqrt(1 / width), 1),
            own(input, "b2", head, {m}, 0, 0).col(0).transpose()};
  }

  /// The scores' factors are computed once per head. The softmax of low-rank scores has full rank
  /// in general.
  [[nodiscard]] LayerScores scores(const AttentionInput& input) const override {
    check_shapes(input);
    const Extent n{input.queries.rows(), true}, m{input.keys.rows(), true};
    auto whole = std::make_shared<std::vector<Matrix>>();
    auto factors = std::make_shared<std::vector<ScoreFactors>>();
    for (std::int64_t head = 0; head < input.heads; ++head) {
      if (scores_ == ScoreKind::random) {
        whole->push_back(own(input, "R", head, {n, m}, 1, 0));
      } else {
        factors->push_back(factors_of(input, head));
      }
    }
    return {[whole, factors](std::int64_t head, std::int64_t first, StridedMatrixMap block) {
      const auto index = static_cast<std::size_t>(head);
      if (!whole->empty()) {
        block = (*whole)[index].middleRows(first, block.rows());
      } else {
        const ScoreFactors& of_head = (*factors)[index];
        const std::int64_t k = of_head.left.cols();
        block.setZero();
        multiply_transposed(
            {of_head.left.data() + first * k, block.rows(), k, Eigen::OuterStride<>(k)},
            {of_head.right.data(), of_head.right.rows(), k, Eigen::OuterStride<>(k)}, 1.0F, block);
        block.rowwise() += of_head.bias;
      }
    }};
  }

  ScoreKind scores_;
  std::int64_t factors_;
  std::int64_t seed_;
};

/// `shape` if the setting "scores" is `source`, else empty.
std::optional<Shape> only(ScoreKind source, const TypedValues& values, Shape shape) {
  if (values.choice("scores", score_names) != source) return std::nullopt;
  return shape;
}

}  // namespace

MechanismEntry synthesizer_entry() {
  using Values = const TypedValues&;
  using Extents = const AttentionShape&;
  return {.name = "synthesizer",
          .title = "Synthesizer",
          .source = "Tay et al. 2020, Eq. 2 to 5",
          .formula = "softmax of weights that do not look at keys",
          .rank = "N",
          .complexity = {"N²D + ND²", "N² + ND", "Tay et al. 2020"},
          .parameters = synthesizer_parameters(),
          .tensors =
              {{"R", "[H, N, M], the scores (Eq. 5)",
                [](Extents s, Values v) {
                  return only(ScoreKind::random, v, {s.heads, s.queries, s.keys});
                }},
               {"R1", "[H, N, k], their left factor (Section 3.2.2)",
                [](Extents s, Values v) {
                  return only(ScoreKind::factorised, v, {s.heads, s.queries, v.whole("factors")});
                }},
               {"R2", "[H, M, k], their right factor",
                [](Extents s, Values v) {
                  return only(ScoreKind::factorised, v, {s.heads, s.keys, v.whole("factors")});
                }},
               {"W1", "[H, d, d], the inner layer (Eq. 2)",
                [](Extents s, Values v) {
                  return only(ScoreKind::dense, v, {s.heads, s.head_width, s.head_width});
                }},
               {"b1", "[H, d], its bias",
                [](Extents s, Values v) {
                  return only(ScoreKind::dense, v, {s.heads, s.head_width});
                }},
               {"W2", "[H, M, d], the outer layer",
                [](Extents s, Values v) {
                  return only(ScoreKind::dense, v, {s.heads, s.keys, s.head_width});
                }},
               {"b2", "[H, M], its bias",
                [](Extents s, Values v) {
                  return only(ScoreKind::dense, v, {s.heads, s.keys});
                }}},
          .counts =
              [](Extents shape, CostConvention convention, Values values) {
                return costs::synthesizer(shape, convention, values.choice("scores", score_names),
                                          values.whole("factors"));
              },
          .projections = value_projections,
          .make = [](Values values) -> std::unique_ptr<Mechanism> {
            return std::make_unique<Synthesizer>(values.choice("scores", score_names),
                                                 values.whole("factors"), values.whole("seed"));
          },
          .causal = true,
          .tempered = true};
}

}  // namespace attnscope
