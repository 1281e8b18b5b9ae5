// Performer with its gradient (Choromanski et al. 2020, Lemma 1). The random features are drawn
// once and stay fixed.
#include <cmath>
#include <type_traits>
#include <vector>

#include "core/attention/kernels/exponentials.h"
#include "core/attention/random_parameters.h"
#include "core/parameters/typed_values.h"
#include "core/tensor/blas.h"
#include "core/training/attention/feature_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// φ_f(x) = exp(ω_f·x' − ‖x'‖²/2), x' = x/d^¼, or relu(ω_f·x') + 0.001. Causal attention uses
/// double, so that the scale of later keys does not make earlier ones underflow.
template <class Scalar>
class TrainedPerformer final : public FeatureAttention<Scalar> {
 public:
  explicit TrainedPerformer(const TrainedAttentionForm& form)
      : FeatureAttention<Scalar>(form.causal),
        relu_(TypedValues(form.mechanism.parameters).is("kernel", "relu")) {
    const TypedValues read(form.mechanism.parameters);
    for (std::int64_t head = 0; form.shape.head_width > 0 && head < form.shape.heads; ++head) {
      NormalNumbers numbers(read.whole("seed"), form.layer, head);
      const MatrixD drawn = orthogonal_rows(numbers, read.whole("features"), form.shape.head_width);
      directions_.push_back(drawn.cast<float>().template cast<Scalar>());
    }
  }

 private:
  using Rows = typename FeatureAttention<Scalar>::Rows;
  using Features = typename FeatureAttention<Scalar>::Features;
  static constexpr Scalar kReluFloor = 1e-3F;  // same value as in the mechanism

  /// The scale d^−¼.
  static Scalar scale(const HeadTensors& head) {
    return static_cast<Scalar>(std::pow(static_cast<double>(head.keys.cols()), -0.25));
  }

  /// The directions ω of the head, [F, d].
  [[nodiscard]] const Rows& directions(const HeadTensors& head) const {
    return directions_[static_cast<std::size_t>(head.head)];
  }

  [[nodiscard]] Rows project(const HeadTensors& head, const ConstStridedMatrixMap& rows) const {
    Rows projected(rows.rows(), directions(head).rows());
    if constexpr (std::is_same_v<Scalar, float>) {
      multiply_transposed(rows, rows_of(directions(head)), scale(head), rows_of(projected));
    } else {
      projected.noalias() = rows.template cast<Scalar>() * directions(head).transpose();
      projected *= scale(head);
    }
    return projected;
  }

  /// The gradient of rows, given that of their projections.
  [[nodiscard]] Rows project_back(const HeadTensors& head, const Rows& d_projected) const {
    Rows d_rows(d_projected.rows(), directions(head).cols());
    if constexpr (std::is_same_v<Scalar, float>) {
      multiply(rows_of(d_projected), rows_of(directions(head)), scale(head), rows_of(d_rows));
    } else {
      d_rows.noalias() = d_projected * directions(head);
      d_rows *= scale(head);
    }
    return d_rows;
  }

  static void take_exponentials(Rows& rows) {
    if constexpr (std::is_same_v<Scalar, float>) {
      exponentiate(rows.data(), rows.size(), 0);
    } else {
      rows = rows.array().exp();
    }
  }

  [[nodiscard]] Features features(const HeadTensors& head) const override {
    Features phi{project(head, head.queries), project(head, head.keys)};
    if (relu_) {
      phi.queries = phi.queries.cwiseMax(0).array() + kReluFloor;
      phi.keys = phi.keys.cwiseMax(0).array() + kReluFloor;
      return phi;
    }
    // The query's ‖q'‖²/2 cancels in the quotient. So do each feature's maximum over the keys and
    // each query's maximum, which are subtracted to keep rows of queries from underflowing.
    for (Eigen::Index j = 0; j < phi.keys.rows(); ++j) {
      const Scalar length = scale(head) * head.keys.row(j).template cast<Scalar>().norm();
      phi.keys.row(j).array() -= Scalar(0.5) * length * length;
    }
    const Eigen::Matrix<Scalar, 1, Eigen::Dynamic> greatest = phi.keys.colwise().maxCoeff();
    phi.keys.rowwise() -= greatest;
    phi.queries.rowwise() += greatest;
    for (Eigen::Index i = 0; i < phi.queries.rows(); ++i) {
      phi.queries.row(i).array() -= phi.queries.row(i).maxCoeff();
    }
    take_exponentials(phi.queries);
    take_exponentials(phi.keys);
    return phi;
  }

  /// The gradient of projections, given the values and gradient of their features.
  [[nodiscard]] Rows of_projected(const Rows& values, const Rows& d_values) const {
    if (!relu_) return values.cwiseProduct(d_values);
    return (values.array() > kReluFloor).select(d_values, Scalar(0));
  }

  void features_backward(const HeadTensors& head, const Features& phi, const Features& d_phi,
                         HeadGradients gradients) const override {
    gradients.queries =
        project_back(head, of_projected(phi.queries, d_phi.queries)).template cast<float>();
    const Rows d_keys = of_projected(phi.keys, d_phi.keys);
    Rows d_rows = project_back(head, d_keys);
    for (Eigen::Index j = 0; !relu_ && j < d_rows.rows(); ++j) {
      const Scalar of_length = scale(head) * scale(head) * d_keys.row(j).sum();
      d_rows.row(j) -= of_length * head.keys.row(j).template cast<Scalar>();
    }
    gradients.keys = d_rows.template cast<float>();
  }

  bool relu_;
  std::vector<Rows> directions_;  ///< ω per head
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_performer(const TrainedAttentionForm& form) {
  if (form.causal) return std::make_unique<TrainedPerformer<double>>(form);
  return std::make_unique<TrainedPerformer<float>>(form);
}

}  // namespace attnscope
