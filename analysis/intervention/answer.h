// Logits as answers: what they say, and how far two of them are apart.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

namespace attnscope {

/// ln softmax of finite logits, in double.
[[nodiscard]] Eigen::ArrayXd log_probabilities(std::span<const float> logits);

/// The index of the largest, the first of equal ones; -1 where one is NaN or Inf, or there are
/// none.
[[nodiscard]] std::int64_t likeliest(std::span<const float> logits);

/// KL(p ‖ q) in bits of the probabilities of `whole` and `changed`, never below 0; NaN where a
/// logit is NaN or Inf.
[[nodiscard]] double divergence_bits(std::span<const float> whole, std::span<const float> changed);

}  // namespace attnscope
