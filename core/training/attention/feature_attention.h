// Attention whose weights are products of features, φ(q)·φ(k), with its gradient: the base of
// linear attention, Performer, cosFormer, the feature maps of trained_feature_maps.cpp, and the
// rotary ones of trained_rotary_maps.cpp.
#pragma once

#include "core/training/attention/trained_heads.h"

namespace attnscope {

/// The divisor of a query's weights: max(Σ_j φ(q_i)·φ(k_j), least) + per_key · n_i for n_i visible
/// keys, or 1.
struct FeatureDivisor {
  double least = 0, per_key = 0;
  bool one = false;  ///< weights are the products themselves
};

/// o_i = φ(q_i)·S / φ(q_i)·z, or another divisor, with S = Σ_j φ(k_j) v_jᵀ and z = Σ_j φ(k_j), over
/// the keys j visible to i, summed in `Scalar`, float or double. Memory: O(N·F) for F features.
/// Derived classes provide the features and their gradients.
template <class Scalar>
class FeatureAttention : public TrainedHeads {
 public:
  explicit FeatureAttention(bool causal, FeatureDivisor divisor = {})
      : causal_(causal), divisor_(divisor) {}

 protected:
  using Rows = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  struct Features {
    Rows queries, keys;  ///< [N, F]
  };
  /// φ(q) and φ(k), up to factors that cancel: one per query if weights are divided by their sum,
  /// and one per feature whose inverse is in the other.
  [[nodiscard]] virtual Features features(const HeadTensors& head) const = 0;
  /// Sets the gradients of queries and keys.
  virtual void features_backward(const HeadTensors& head, const Features& features,
                                 const Features& d_features, HeadGradients gradients) const = 0;

  void forward_head(const HeadTensors& head, StridedMatrixMap output,
                    AttentionRoom& room) const final;
  void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                     HeadGradients gradients, AttentionRoom& room) const final;

 private:
  using Row = Eigen::Matrix<Scalar, 1, Eigen::Dynamic>;
  struct Sums;
  struct Quotient;
  [[nodiscard]] Quotient quotient(Scalar sum, Eigen::Index keys) const;

  bool causal_;
  FeatureDivisor divisor_;
};

extern template class FeatureAttention<float>;
extern template class FeatureAttention<double>;

/// Attention of queries and keys that are features already: φ(x) = x.
class FeatureProducts final : public FeatureAttention<float> {
 public:
  explicit FeatureProducts(FeatureDivisor divisor) : FeatureAttention(false, divisor) {}

 private:
  [[nodiscard]] Features features(const HeadTensors& head) const override {
    return {head.queries, head.keys};
  }
  void features_backward(const HeadTensors&, const Features&, const Features& d_features,
                         HeadGradients gradients) const override {
    gradients.queries = d_features.queries;
    gradients.keys = d_features.keys;
  }
};

}  // namespace attnscope
