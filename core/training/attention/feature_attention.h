// Attention whose weights are products of features, φ(q)·φ(k), with its gradient: what linear
// attention, Performer and cosFormer share.
#pragma once

#include "core/training/attention/trained_heads.h"

namespace attnscope {

/// o_i = φ(q_i)·S / φ(q_i)·z with S = Σ_j φ(k_j) v_jᵀ and z = Σ_j φ(k_j), over the j that i sees,
/// by sums of `Scalar`, float or double. Memory: O(N·F) of F features. A derived class says what
/// the features are, and what their gradients are to queries and keys.
template <class Scalar>
class FeatureAttention : public TrainedHeads {
 public:
  /// least: what a smaller denominator is taken for.
  explicit FeatureAttention(bool causal, Scalar least = 0) : causal_(causal), least_(least) {}

 protected:
  using Rows = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  struct Features {
    Rows queries, keys;  ///< [N, F]
  };
  /// φ(q) and φ(k), up to factors of a query, and of a feature where the other has its inverse:
  /// they cancel.
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

  bool causal_;
  Scalar least_;
};

extern template class FeatureAttention<float>;
extern template class FeatureAttention<double>;

}  // namespace attnscope
