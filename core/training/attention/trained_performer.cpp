// Performer with its gradient (Choromanski et al. 2020, Lemma 1): its random features stay as they
// were drawn.
#include <cmath>
#include <vector>

#include "core/attention/random_parameters.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/feature_attention.h"

namespace attnscope {

namespace {

/// φ_f(x) = exp(ω_f·x' − ‖x'‖²/2), x' = x/d^¼, or relu(ω_f·x') + 0.001.
class TrainedPerformer final : public FeatureAttention<double> {
 public:
  explicit TrainedPerformer(const TrainedAttentionForm& form)
      : FeatureAttention(form.causal),
        relu_(TypedValues(form.mechanism.parameters).is("kernel", "relu")) {
    const TypedValues read(form.mechanism.parameters);
    for (std::int64_t head = 0; form.shape.head_width > 0 && head < form.shape.heads; ++head) {
      NormalNumbers numbers(read.whole("seed"), form.layer, head);
      const MatrixD drawn = orthogonal_rows(numbers, read.whole("features"), form.shape.head_width);
      directions_.push_back(drawn.cast<float>().cast<double>());
    }
  }

 private:
  static constexpr double kReluFloor = 1e-3F;  // as the mechanism's

  /// d^−¼.
  static double scale(const HeadTensors& head) {
    return std::pow(static_cast<double>(head.keys.cols()), -0.25);
  }

  /// ω of the head, [F, d].
  [[nodiscard]] const MatrixD& directions(const HeadTensors& head) const {
    return directions_[static_cast<std::size_t>(head.head)];
  }

  [[nodiscard]] Features features(const HeadTensors& head) const override {
    const auto project = [&](const ConstStridedMatrixMap& rows) -> MatrixD {
      return scale(head) * (rows.cast<double>() * directions(head).transpose());
    };
    Features phi{project(head.queries), project(head.keys)};
    if (relu_) {
      phi.queries = phi.queries.cwiseMax(0).array() + kReluFloor;
      phi.keys = phi.keys.cwiseMax(0).array() + kReluFloor;
      return phi;
    }
    // The query's own ‖q'‖²/2 cancels in the quotient; so do each feature's greatest key and each
    // query's greatest product, without which rows of queries would vanish.
    phi.keys.colwise() -=
        0.5 * scale(head) * scale(head) * head.keys.cast<double>().rowwise().squaredNorm();
    const Eigen::RowVectorXd greatest = phi.keys.colwise().maxCoeff();
    phi.keys.rowwise() -= greatest;
    phi.queries.rowwise() += greatest;
    const Eigen::VectorXd of_query = phi.queries.rowwise().maxCoeff();
    phi.queries.colwise() -= of_query;
    phi.queries = phi.queries.array().exp();
    phi.keys = phi.keys.array().exp();
    return phi;
  }

  void features_backward(const HeadTensors& head, const Features& phi, const Features& d_phi,
                         HeadGradients gradients) const override {
    const auto to_rows = [&](const MatrixD& d_projected) -> MatrixD {
      return scale(head) * (d_projected * directions(head));
    };
    const auto d_projected = [this](const MatrixD& values, const MatrixD& d_values) -> MatrixD {
      if (!relu_) return values.cwiseProduct(d_values);
      return (values.array() > kReluFloor).select(d_values, 0.0);
    };
    gradients.queries = to_rows(d_projected(phi.queries, d_phi.queries)).cast<float>();
    const MatrixD d_keys = d_projected(phi.keys, d_phi.keys);
    MatrixD d_rows = to_rows(d_keys);
    if (!relu_) {
      const Eigen::VectorXd of_length = scale(head) * scale(head) * d_keys.rowwise().sum();
      d_rows -= of_length.asDiagonal() * head.keys.cast<double>();
    }
    gradients.keys = d_rows.cast<float>();
  }

  bool relu_;
  std::vector<MatrixD> directions_;  ///< of each head
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_performer(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedPerformer>(form);
}

}  // namespace attnscope
