// Differential attention with its gradient (Ye et al. 2024, Eq. 1): two softmaxes over the halves
// of queries and keys, and the λ of the layer, which is learned. The normalisation of each head's
// output in the authors' layer is no part of it.
#include <cmath>

#include "core/attention/mechanism.h"
#include "core/training/attention/score_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

class TrainedDifferential final : public TrainedHeads {
 public:
  explicit TrainedDifferential(const TrainedAttentionForm& form)
      : softmax_(make_trained_softmax(form)), initial_lambda_(initial_lambda(form.layer)) {
    for (const char* const name : {"lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"}) {
      lambdas_.push_back(own_parameter(form, name, Initialisation::lambda_normal));
    }
  }

  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override { return lambdas_; }

 private:
  /// λ = exp(λ_q1·λ_k1) − exp(λ_q2·λ_k2) + λ₀.
  struct Lambda {
    double first, second, initial;  ///< both exponentials, and λ₀
    [[nodiscard]] float value() const { return static_cast<float>(first - second + initial); }
  };

  [[nodiscard]] Eigen::Index lambda_width() const { return lambdas_.front().shape.front(); }

  [[nodiscard]] Eigen::VectorXd vector(const HeadTensors& head, std::size_t which) const {
    return Eigen::Map<const Eigen::VectorXf>(head.own[which], lambda_width()).cast<double>();
  }

  [[nodiscard]] Lambda lambda(const HeadTensors& head) const {
    return {std::exp(vector(head, 0).dot(vector(head, 1))),
            std::exp(vector(head, 2).dot(vector(head, 3))), initial_lambda_};
  }

  /// One half of a head as a head of its own: of an odd width the first is the larger.
  static AttentionTensors half(const HeadTensors& head, int which) {
    const Eigen::Index second = head.keys.cols() / 2, first = head.keys.cols() - second;
    const Eigen::Index begin = which == 0 ? 0 : first, count = which == 0 ? first : second;
    return {columns_of(head.queries, begin, count), columns_of(head.keys, begin, count),
            head.values};
  }

  void forward_head(const HeadTensors& head, StridedMatrixMap output,
                    AttentionRoom& room) const override {
    Matrix second(output.rows(), output.cols());
    softmax_->forward(half(head, 0), output, room);
    softmax_->forward(half(head, 1), rows_of(second), room);
    output -= lambda(head).value() * second;
  }

  void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                     HeadGradients gradients, AttentionRoom& room) const override {
    const AttentionTensors first = half(head, 0), second = half(head, 1);
    const Eigen::Index begin = first.keys.cols(), count = second.keys.cols();
    softmax_->backward(first, d_output,
                       {columns_of(gradients.queries, 0, begin),
                        columns_of(gradients.keys, 0, begin), gradients.values},
                       room);
    // The gradients of the second map's own output, which −λ multiplies.
    StridedMatrixMap d_queries = columns_of(gradients.queries, begin, count),
                     d_keys = columns_of(gradients.keys, begin, count);
    Matrix d_values(head.values.rows(), head.values.cols());
    softmax_->backward(second, d_output, {d_queries, d_keys, rows_of(d_values)}, room);
    const Lambda factor = lambda(head);
    d_queries *= -factor.value();
    d_keys *= -factor.value();
    gradients.values -= factor.value() * d_values;
    // Σ dO ⊙ (A₂ V) = Σ V ⊙ (A₂ᵀ dO).
    const double d_lambda = -head.values.cast<double>().cwiseProduct(d_values.cast<double>()).sum();
    add_product_gradients(head, gradients, 0, d_lambda * factor.first);
    add_product_gradients(head, gradients, 2, -d_lambda * factor.second);
  }

  /// Adds the gradients of own parameters `which` and the next, given that of their product.
  void add_product_gradients(const HeadTensors& head, const HeadGradients& gradients,
                             std::size_t which, double d_product) const {
    for (const std::size_t other : {which + 1, which}) {
      const std::size_t own = 2 * which + 1 - other;
      Eigen::Map<Eigen::VectorXf>(gradients.own[own], lambda_width()) +=
          (d_product * vector(head, other)).cast<float>();
    }
  }

  std::unique_ptr<const TrainedAttention> softmax_;
  double initial_lambda_;              ///< λ₀ of the layer
  std::vector<OwnParameter> lambdas_;  ///< λ_q1, λ_k1, λ_q2 and λ_k2, [d/2], for all heads
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_differential(
    const TrainedAttentionForm& form) {
  return std::make_unique<TrainedDifferential>(form);
}

}  // namespace attnscope
