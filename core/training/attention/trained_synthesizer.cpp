// Synthesizer with its gradient (Tay et al. 2020, Eq. 2 to 5). The own parameters are R, or R1 and
// R2, or W1, b1, W2 and b2 of each head. Keys are not used and have no gradient.
#include "core/parameters/typed_values.h"
#include "core/tensor/blas.h"
#include "core/training/attention/score_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

using ConstRow = Eigen::Map<const Eigen::RowVectorXf>;
using RowMap = Eigen::Map<Eigen::RowVectorXf>;

/// S = R, the same for every input. Shorter texts use the first rows and columns.
class RandomScores final : public ScoreAttention {
 public:
  explicit RandomScores(const TrainedAttentionForm& form)
      : ScoreAttention(form.causal, false), form_(form) {}

  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override {
    return {own_parameter(form_, "R")};
  }

 private:
  [[nodiscard]] Prepared prepare(const HeadTensors&) const override { return {}; }

  /// Start of the head's scores for query `first`.
  [[nodiscard]] std::int64_t offset(const HeadTensors& head, std::int64_t first) const {
    return (head.head * form_.shape.queries + first) * form_.shape.keys;
  }

  void score(const Queries& queries, const HeadTensors& head, const Prepared&,
             StridedMatrixMap scores) const override {
    scores = ConstStridedMatrixMap(head.own[0] + offset(head, queries.first), scores.rows(),
                                   scores.cols(), Eigen::OuterStride<>(form_.shape.keys));
  }

  void score_gradients(const Queries& queries, const HeadTensors& head, const Prepared&,
                       StridedMatrixMap d_scores, StridedMatrixMap d_queries,
                       HeadGradients gradients, AttentionRoom&) const override {
    d_queries.setZero();
    StridedMatrixMap(gradients.own[0] + offset(head, queries.first), d_scores.rows(),
                     d_scores.cols(), Eigen::OuterStride<>(form_.shape.keys)) += d_scores;
  }

  TrainedAttentionForm form_;
};

/// S = R1·R2ᵀ (Section 3.2.2).
class FactorisedScores final : public ScoreAttention {
 public:
  explicit FactorisedScores(const TrainedAttentionForm& form)
      : ScoreAttention(form.causal, false),
        form_(form),
        factors_(TypedValues(form.mechanism.parameters).whole("factors")) {}

  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override {
    return {own_parameter(form_, "R1", Initialisation::xavier),
            own_parameter(form_, "R2", Initialisation::xavier)};
  }

 private:
  [[nodiscard]] Prepared prepare(const HeadTensors&) const override { return {}; }

  template <class Number>
  [[nodiscard]] Number* left(Number* r1, const HeadTensors& head, std::int64_t first) const {
    return r1 + (head.head * form_.shape.queries + first) * factors_;
  }
  template <class Number>
  [[nodiscard]] Number* right(Number* r2, const HeadTensors& head) const {
    return r2 + head.head * form_.shape.keys * factors_;
  }

  void score(const Queries& queries, const HeadTensors& head, const Prepared&,
             StridedMatrixMap scores) const override {
    multiply_transposed(rows_of(left(head.own[0], head, queries.first), scores.rows(), factors_),
                        rows_of(right(head.own[1], head), scores.cols(), factors_), 1.0F, scores);
  }

  void score_gradients(const Queries& queries, const HeadTensors& head, const Prepared&,
                       StridedMatrixMap d_scores, StridedMatrixMap d_queries,
                       HeadGradients gradients, AttentionRoom&) const override {
    const std::int64_t rows = d_scores.rows(), keys = d_scores.cols(), first = queries.first;
    d_queries.setZero();
    multiply(seen(d_scores), rows_of(right(head.own[1], head), keys, factors_), 1.0F,
             rows_of(left(gradients.own[0], head, first), rows, factors_), true);
    add_transposed_product(seen(d_scores), rows_of(left(head.own[0], head, first), rows, factors_),
                           1.0F, rows_of(right(gradients.own[1], head), keys, factors_));
  }

  TrainedAttentionForm form_;
  std::int64_t factors_;
};

/// S = W2·relu(W1·q + b1) + b2.
class DenseScores final : public ScoreAttention {
 public:
  explicit DenseScores(const TrainedAttentionForm& form)
      : ScoreAttention(form.causal, false), form_(form) {}

  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override {
    return {own_parameter(form_, "W1", Initialisation::xavier),
            own_parameter(form_, "b1", Initialisation::zeros),
            own_parameter(form_, "W2", Initialisation::xavier),
            own_parameter(form_, "b2", Initialisation::zeros)};
  }

 private:
  /// The head's part of the own parameters, or of their gradients.
  template <class Number>
  struct Share {
    Number *w1, *b1, *w2, *b2;  ///< [d, d], [d], [N, d], [N]
  };
  template <class Number>
  [[nodiscard]] Share<Number> share_of(std::span<Number* const> own,
                                       const HeadTensors& head) const {
    const std::int64_t d = head.queries.cols(), places = form_.shape.keys, h = head.head;
    return {own[0] + h * d * d, own[1] + h * d, own[2] + h * places * d, own[3] + h * places};
  }

  [[nodiscard]] Prepared prepare(const HeadTensors& head) const override {
    const std::int64_t d = head.queries.cols();
    const auto own = share_of(head.own, head);
    Prepared prepared;
    prepared.hidden.resize(head.queries.rows(), d);
    multiply_transposed(head.queries, rows_of(own.w1, d, d), 1.0F, rows_of(prepared.hidden));
    prepared.hidden.rowwise() += ConstRow(own.b1, d);
    prepared.hidden = prepared.hidden.cwiseMax(0);
    return prepared;
  }

  static ConstStridedMatrixMap hidden_of(const Queries& queries, const Prepared& prepared) {
    return some_rows(rows_of(prepared.hidden), queries.first, queries.rows.rows());
  }

  void score(const Queries& queries, const HeadTensors& head, const Prepared& prepared,
             StridedMatrixMap scores) const override {
    const auto own = share_of(head.own, head);
    multiply_transposed(hidden_of(queries, prepared),
                        rows_of(own.w2, scores.cols(), head.queries.cols()), 1.0F, scores);
    scores.rowwise() += ConstRow(own.b2, scores.cols());
  }

  void score_gradients(const Queries& queries, const HeadTensors& head, const Prepared& prepared,
                       StridedMatrixMap d_scores, StridedMatrixMap d_queries,
                       HeadGradients gradients, AttentionRoom&) const override {
    const std::int64_t d = head.queries.cols(), keys = d_scores.cols();
    const auto own = share_of(head.own, head);
    const auto of_own = share_of(gradients.own, head);
    const ConstStridedMatrixMap hidden = hidden_of(queries, prepared);
    Matrix d_hidden(d_scores.rows(), d);
    multiply(seen(d_scores), rows_of(own.w2, keys, d), 1.0F, rows_of(d_hidden));
    d_hidden = (hidden.array() > 0).select(d_hidden, 0.0F);
    add_transposed_product(seen(d_scores), hidden, 1.0F, rows_of(of_own.w2, keys, d));
    RowMap(of_own.b2, keys) += d_scores.colwise().sum();
    add_transposed_product(seen(rows_of(d_hidden)), queries.rows, 1.0F, rows_of(of_own.w1, d, d));
    RowMap(of_own.b1, d) += d_hidden.colwise().sum();
    multiply(seen(rows_of(d_hidden)), rows_of(own.w1, d, d), 1.0F, d_queries);
  }

  TrainedAttentionForm form_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_synthesizer(const TrainedAttentionForm& form) {
  const TypedValues read(form.mechanism.parameters);
  if (read.is("scores", "random")) return std::make_unique<RandomScores>(form);
  if (read.is("scores", "factorised")) return std::make_unique<FactorisedScores>(form);
  return std::make_unique<DenseScores>(form);
}

}  // namespace attnscope
