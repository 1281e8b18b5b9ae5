// Answers from logits: probabilities, the likeliest class, and divergence.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

namespace attnscope {

/// ln softmax of finite logits, in double.
[[nodiscard]] Eigen::ArrayXd log_probabilities(std::span<const float> logits);

/// Index of the greatest logit, the first one of ties; −1 if there are no logits or one is NaN or
/// Inf.
[[nodiscard]] std::int64_t likeliest(std::span<const float> logits);

/// KL(p ‖ q) ≥ 0 in bits, with p and q the softmax of `whole` and `changed`; NaN if a logit is NaN
/// or Inf.
[[nodiscard]] double divergence_bits(std::span<const float> whole, std::span<const float> changed);

}  // namespace attnscope
