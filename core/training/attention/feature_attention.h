// Attention whose weights are products of features, φ(q)·φ(k), with its gradient: the base of
// linear attention, Performer and cosFormer.
#pragma once

#include "core/training/attention/trained_heads.h"

namespace attnscope {

/// o_i = φ(q_i)·S / φ(q_i)·z with S = Σ_j φ(k_j) v_jᵀ and z = Σ_j φ(k_j), over the keys j visible
/// to i, summed in `Scalar`, float or double. Memory: O(N·F) for F features. Derived classes
/// provide the features and their gradients.
template <class Scalar>
class FeatureAttention : public TrainedHeads {
 public:
  /// `least` is the lower bound of the denominator.
  explicit FeatureAttention(bool causal, Scalar least = 0) : causal_(causal), least_(least) {}

 protected:
  using Rows = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  struct Features {
    Rows queries, keys;  ///< [N, F]
  };
  /// φ(q) and φ(k), up to factors that cancel: one per query, and one per feature whose inverse is
  /// in the other.
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
