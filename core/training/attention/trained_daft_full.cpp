// DAFT-full with its gradient (DAFT, Eq. 5 and 6, Algorithm 1): own parameters pe0 and pe1, or w.
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parameters/typed_values.h"
#include "core/tensor/blas.h"
#include "core/training/attention/trained_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// Y = σ(Q) ⊙ (E (F ⊙ V)) / (E F), E = exp(w) and F = exp(K): the greatest of each row of w and of
/// each channel of K is subtracted, which cancels.
class TrainedDaftFull final : public TrainedAttention {
 public:
  explicit TrainedDaftFull(std::int64_t factors) : factors_(factors) {}

  [[nodiscard]] std::vector<OwnParameter> own_parameters(
      const AttentionShape& shape) const override {
    if (factors_ == 0) return {{"w", {shape.queries, shape.keys}}};
    return {{"pe0", {shape.queries, factors_}}, {"pe1", {shape.keys, factors_}}};
  }

  void forward(const HeadTensors& head, StridedMatrixMap output, AttentionRoom&) const override {
    const Exponentials keys(head);
    for (std::int64_t first = 0; first < output.rows(); first += kQueries) {
      const Rows rows(*this, head, keys, first);
      output.middleRows(first, rows.count) = rows.gate.cwiseProduct(rows.quotient);
    }
  }

  void backward(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                HeadGradients gradients, AttentionRoom&) const override {
    const Exponentials keys(head);
    const std::int64_t tokens = head.keys.rows(), width = head.values.cols();
    // Of F ⊙ V and of F.
    Matrix d_weighted = Matrix::Zero(tokens, width), d_plain = Matrix::Zero(tokens, width);
    for (std::int64_t first = 0; first < tokens; first += kQueries) {
      const Rows rows(*this, head, keys, first);
      const auto dy = d_output.middleRows(first, rows.count);
      gradients.queries.middleRows(first, rows.count) =
          dy.array() * rows.quotient.array() * rows.gate.array() * (1 - rows.gate.array());
      const Matrix d_above = dy.array() * rows.gate.array() / rows.below.array();
      const Matrix d_below = -d_above.array() * rows.quotient.array();
      add_transposed_product(rows_of(rows.weights), rows_of(d_above), 1.0F, rows_of(d_weighted));
      add_transposed_product(rows_of(rows.weights), rows_of(d_below), 1.0F, rows_of(d_plain));
      Matrix d_bias(rows.count, tokens);
      multiply_transposed(rows_of(d_above), rows_of(keys.weighted), 1.0F, rows_of(d_bias));
      multiply_transposed(rows_of(d_below), rows_of(keys.plain), 1.0F, rows_of(d_bias), true);
      d_bias = d_bias.cwiseProduct(rows.weights);
      add_bias_gradient(head, d_bias, first, gradients);
    }
    gradients.values = keys.plain.cwiseProduct(d_weighted);
    gradients.keys = keys.weighted.cwiseProduct(d_weighted) + keys.plain.cwiseProduct(d_plain);
  }

 private:
  static constexpr std::int64_t kQueries = 128;  // of a block of E

  /// F, and F ⊙ V.
  struct Exponentials {
    explicit Exponentials(const HeadTensors& head)
        : plain((head.keys.rowwise() - head.keys.colwise().maxCoeff()).array().exp()),
          weighted(plain.cwiseProduct(head.values)) {}
    Matrix plain, weighted;
  };

  /// Queries [first, first + count): their rows of E, and what comes of them.
  struct Rows {
    Rows(const TrainedDaftFull& owner, const HeadTensors& head, const Exponentials& keys,
         std::int64_t first)
        : count(std::min(kQueries, head.queries.rows() - first)),
          weights(count, head.keys.rows()),
          below(count, head.values.cols()),
          quotient(count, head.values.cols()) {
      owner.fill_bias(head, first, weights);
      for (std::int64_t row = 0; row < count; ++row) {
        weights.row(row) = (weights.row(row).array() - weights.row(row).maxCoeff()).exp();
      }
      multiply(seen(rows_of(weights)), rows_of(keys.plain), 1.0F, rows_of(below));
      multiply(seen(rows_of(weights)), rows_of(keys.weighted), 1.0F, rows_of(quotient));
      quotient = quotient.cwiseQuotient(below);
      gate = (1 + (-head.queries.middleRows(first, count).array()).exp()).inverse();
    }
    std::int64_t count;
    Matrix weights, below, quotient, gate;
  };

  /// Rows [first, first + bias.rows()) of w.
  void fill_bias(const HeadTensors& head, std::int64_t first, Matrix& bias) const {
    const std::int64_t tokens = head.keys.rows();
    if (factors_ == 0) {
      bias = rows_of(head.own[0] + first * tokens, bias.rows(), tokens);
      return;
    }
    multiply_transposed(rows_of(head.own[0] + first * factors_, bias.rows(), factors_),
                        rows_of(head.own[1], tokens, factors_), 1.0F, rows_of(bias));
  }

  void add_bias_gradient(const HeadTensors& head, const Matrix& d_bias, std::int64_t first,
                         const HeadGradients& gradients) const {
    const std::int64_t tokens = head.keys.rows();
    if (factors_ == 0) {
      StridedMatrixMap rows = rows_of(gradients.own[0] + first * tokens, d_bias.rows(), tokens);
      rows += d_bias;
      return;
    }
    multiply(rows_of(d_bias), rows_of(head.own[1], tokens, factors_), 1.0F,
             rows_of(gradients.own[0] + first * factors_, d_bias.rows(), factors_), true);
    add_transposed_product(rows_of(d_bias),
                           rows_of(head.own[0] + first * factors_, d_bias.rows(), factors_), 1.0F,
                           rows_of(gradients.own[1], tokens, factors_));
  }

  std::int64_t factors_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_daft_full(const TrainedAttentionForm& form) {
  if (form.causal) {
    throw Error(ErrorKind::unsupported, "causal DAFT has no gradient yet")
        .about("mechanism")
        .expected("adder, additive, hash, linear or softmax for texts");
  }
  return std::make_unique<TrainedDaftFull>(TypedValues(form.mechanism.parameters).whole("factors"));
}

}  // namespace attnscope
