// Binary codes of a head's queries and keys with their gradient, for hashed attention.
#pragma once

#include <memory>
#include <optional>

#include "core/attention/hash_codes.h"
#include "core/training/attention/trained_heads.h"

namespace attnscope {

/// The codes of one head in one pass. The gradient of sign is that of HardTanh.
class TrainedCodes {
 public:
  virtual ~TrainedCodes() = default;
  [[nodiscard]] const MatrixD& queries() const { return queries_ ? *queries_ : keys_; }  ///< [N, b]
  [[nodiscard]] const MatrixD& keys() const { return keys_; }                            ///< [N, b]
  /// Sets the gradients of the head's queries and keys, given those of their codes. If the queries
  /// are the keys, the whole gradient is assigned to the keys.
  virtual void backward(MatrixD d_queries, MatrixD d_keys, HeadGradients& gradients) const = 0;

 protected:
  std::optional<MatrixD> queries_;  ///< empty if the queries are the keys
  MatrixD keys_;
};

/// h = α sign(x̂) of tokens x̂ = x / ‖x‖, α = ‖x̂‖₁ / d (EcoFormer, Eq. 5).
[[nodiscard]] std::unique_ptr<const TrainedCodes> sign_codes(const HeadTensors& head,
                                                             bool zero_is_zero);

/// h = sign(A (κ(x̂) − μ)) (EcoFormer, Eq. 10 and 11), with κ as in HashFunction. head.own are A
/// [H, b, m], μ [H, m] and the anchors [H, m, d] of all heads. They get no gradient, because they
/// are learned separately.
[[nodiscard]] std::unique_ptr<const TrainedCodes> learned_codes(const HeadTensors& head,
                                                                std::int64_t bits,
                                                                std::int64_t supports,
                                                                bool zero_is_zero);

}  // namespace attnscope
