// Linear attention with its gradient (Katharopoulos et al. 2020, Eq. 7), φ = 1 + elu.
#include <cmath>

#include "core/training/attention/feature_attention.h"

namespace attnscope {

namespace {

class TrainedLinearAttention final : public FeatureAttention<float> {
 public:
  using FeatureAttention::FeatureAttention;

 private:
  /// 1 + elu(x): x + 1 for x ≥ 0, otherwise exp(x).
  static Matrix phi(const ConstStridedMatrixMap& rows) {
    return rows.unaryExpr([](float x) { return x < 0 ? std::exp(x) : x + 1; });
  }
  /// The derivative of phi computed from its values: 1 for x ≥ 0, otherwise exp(x), which is less.
  static auto slopes(const Matrix& values) { return values.cwiseMin(1.0F); }

  [[nodiscard]] Features features(const HeadTensors& head) const override {
    return {phi(head.queries), phi(head.keys)};
  }

  void features_backward(const HeadTensors&, const Features& features, const Features& d_features,
                         HeadGradients gradients) const override {
    gradients.queries = d_features.queries.cwiseProduct(slopes(features.queries));
    gradients.keys = d_features.keys.cwiseProduct(slopes(features.keys));
  }
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_linear(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedLinearAttention>(form.causal);
}

}  // namespace attnscope
