// Synthesizer: softmax of scores that no query meets a key for (Tay et al. 2020). Random: learned
// scores R, the same for every input (Eq. 5), or their factors R1·R2ᵀ (Section 3.2.2). Dense:
// predicted from the token itself, W2·ReLU(W1·x + b1) + b2 (Eq. 2); x is the head's query here.
//
// Parameters: random "R" [N, M]; factorised "R1" [N, k], "R2" [M, k]; dense "W1" [d, d], "b1" [d],
// "W2" [M, d], "b2" [M]; each also with the heads in front. Models without them are given normal
// numbers, others in every layer: R of variance 1, R1·R2ᵀ of variance 1, W1 of variance 2/d, W2 of
// 1/d, no biases.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/attention/costs/costs.h"
#include "core/attention/mechanism.h"
#include "core/attention/random_parameters.h"
#include "core/attention/score_blocks.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

const std::vector<ParameterDescription>& parameters() {
  static const std::vector<ParameterDescription> list = {
      setting::choice("scores", {"dense", "random", "factorised"}, "dense",
                      "dense: predicted from each token; random: the same for every input; "
                      "factorised: random, as a product of two narrow matrices"),
      setting::whole("factors", 8, {1, 1e6}, "k, columns of the two matrices of factorised scores"),
      seed_parameter("the scores and weights"),
  };
  return list;
}

enum class Scores { dense, random, factorised };

/// What one head's scores are made of: left · rightᵀ + a bias for each key.
struct ScoreFactors {
  Matrix left;   ///< [N, k]
  Matrix right;  ///< [M, k]
  Eigen::RowVectorXf bias;
};

class Synthesizer final : public Mechanism {
 public:
  Synthesizer(Scores scores, std::int64_t factors, std::int64_t seed)
      : scores_(scores), factors_(factors), seed_(seed) {}

  [[nodiscard]] MechanismChoice choice() const override {
    constexpr const char* names[] = {"dense", "random", "factorised"};
    return {"synthesizer",
            {{"scores", std::string(names[static_cast<std::size_t>(scores_)])},
             {"factors", factors_},
             {"seed", seed_}}};
  }

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    return attend_by_blocks(input, filler(input));
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    return map_by_blocks(input, filler(input));
  }

  [[nodiscard]] std::vector<OperationCount> cost(const AttentionShape& shape,
                                                 CostConvention convention) const override {
    constexpr costs::ScoreSource sources[] = {costs::ScoreSource::dense, costs::ScoreSource::random,
                                              costs::ScoreSource::factorised};
    return costs::synthesizer(shape, convention, sources[static_cast<std::size_t>(scores_)],
                              factors_);
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    // The softmax of narrow scores is not narrow.
    return {.rank_bound = std::min(shape.queries, shape.keys)};
  }

 private:
  /// `name` of one head, else normal numbers of that standard deviation. `part` tells the
  /// parameters of a head apart.
  [[nodiscard]] Matrix own(const AttentionInput& input, const char* name, std::int64_t head,
                           const Shape& shape, double deviation, std::int64_t part) const {
    const std::int64_t columns = shape.size() > 1 ? shape[1] : 1;
    const Tensor* const given = find_parameter(input.parameters, name, input.heads, shape);
    if (given != nullptr) return of_head(*given, head, shape[0], columns);
    if (deviation == 0) return Matrix::Zero(shape[0], columns);
    NormalNumbers numbers(seed_, input.layer, 4 * head + part);
    return (deviation * numbers.matrix(shape[0], columns)).cast<float>();
  }

  [[nodiscard]] ScoreFactors factors_of(const AttentionInput& input, std::int64_t head) const {
    const std::int64_t n = input.queries.rows(), m = input.keys.rows();
    if (scores_ == Scores::factorised) {
      const double deviation = std::pow(static_cast<double>(factors_), -0.25);
      return {own(input, "R1", head, {n, factors_}, deviation, 0),
              own(input, "R2", head, {m, factors_}, deviation, 1), Eigen::RowVectorXf::Zero(m)};
    }
    const std::int64_t d = input.queries.cols() / input.heads;
    const double width = static_cast<double>(std::max<std::int64_t>(d, 1));
    const Matrix w1 = own(input, "W1", head, {d, d}, std::sqrt(2 / width), 0);
    const Matrix b1 = own(input, "b1", head, {d}, 0, 0);
    Matrix hidden(n, d);
    multiply_transposed(head_columns(input.queries, input.heads, head),
                        {w1.data(), d, d, Eigen::OuterStride<>(d)}, 1.0F,
                        {hidden.data(), n, d, Eigen::OuterStride<>(d)});
    hidden.rowwise() += b1.col(0).transpose();
    return {hidden.cwiseMax(0.0F), own(input, "W2", head, {m, d}, std::sqrt(1 / width), 1),
            own(input, "b2", head, {m}, 0, 0).col(0).transpose()};
  }

  /// The scores of every head, made once for all blocks.
  [[nodiscard]] FillScores filler(const AttentionInput& input) const {
    check_shapes(input);
    const std::int64_t n = input.queries.rows(), m = input.keys.rows();
    auto whole = std::make_shared<std::vector<Matrix>>();
    auto factors = std::make_shared<std::vector<ScoreFactors>>();
    for (std::int64_t head = 0; head < input.heads; ++head) {
      if (scores_ == Scores::random) {
        whole->push_back(own(input, "R", head, {n, m}, 1, 0));
      } else {
        factors->push_back(factors_of(input, head));
      }
    }
    return [whole, factors](std::int64_t head, std::int64_t first, StridedMatrixMap block) {
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
    };
  }

  Scores scores_;
  std::int64_t factors_;
  std::int64_t seed_;
};

}  // namespace

MechanismEntry synthesizer_entry() {
  static constexpr std::string_view tensors[] = {"R", "R1", "R2", "W1", "b1", "W2", "b2"};
  return {"synthesizer",
          "Synthesizer",
          "Tay et al. 2020, Eq. 2 to 5",
          parameters(),
          tensors,
          [](const ParameterValues& values) -> std::unique_ptr<const Mechanism> {
            const std::string& scores = std::get<std::string>(values.at("scores"));
            return std::make_unique<Synthesizer>(scores == "dense"    ? Scores::dense
                                                 : scores == "random" ? Scores::random
                                                                      : Scores::factorised,
                                                 std::get<std::int64_t>(values.at("factors")),
                                                 std::get<std::int64_t>(values.at("seed")));
          },
          true};
}

}  // namespace attnscope
