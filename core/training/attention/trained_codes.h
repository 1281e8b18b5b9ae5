// Binary codes of a head's queries and keys with their gradient: what hashed attention learns by.
#pragma once

#include <memory>
#include <optional>

#include "core/attention/hash_codes.h"
#include "core/training/attention/trained_heads.h"

namespace attnscope {

/// The codes of one head in one pass. Signs pass gradients as HardTanh does.
class TrainedCodes {
 public:
  virtual ~TrainedCodes() = default;
  [[nodiscard]] const MatrixD& queries() const { return queries_ ? *queries_ : keys_; }  ///< [N, b]
  [[nodiscard]] const MatrixD& keys() const { return keys_; }                            ///< [N, b]
  /// Sets the gradients of the head's queries and keys, of those of their codes. Where the queries
  /// are the keys, all of it is the keys'.
  virtual void backward(MatrixD d_queries, MatrixD d_keys, HeadGradients& gradients) const = 0;

 protected:
  std::optional<MatrixD> queries_;  ///< none: they are the keys
  MatrixD keys_;
};

/// h = α sign(x̂) of tokens x̂ = x / ‖x‖, α = ‖x̂‖₁ / d (EcoFormer, Eq. 5).
[[nodiscard]] std::unique_ptr<const TrainedCodes> sign_codes(const HeadTensors& head,
                                                             bool zero_is_zero);

/// h = sign(A (κ(x̂) − μ)) (EcoFormer, Eq. 10 and 11), κ as HashFunction says; head.own are A
/// [H, b, m], μ [H, m] and the anchors [H, m, d] of all heads, which get no gradient: they are
/// learnt apart.
[[nodiscard]] std::unique_ptr<const TrainedCodes> learnt_codes(const HeadTensors& head,
                                                               std::int64_t bits,
                                                               std::int64_t supports,
                                                               bool zero_is_zero);

}  // namespace attnscope
