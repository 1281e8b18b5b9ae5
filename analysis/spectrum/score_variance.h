// Variance of attention scores of random queries and keys, the reason for adder attention's scale.
#pragma once

#include <cstdint>

namespace attnscope {

struct ScoreVariance {
  double dot_product = 0, dot_product_predicted = 0;  ///< Var(q · k); d
  double distance = 0, distance_predicted = 0;  ///< Var(−‖q − k‖₁); 2 d (1 − 2/π)
};

/// Draws `pairs` ≥ 2 pairs of standard normal queries and keys of `width` ≥ 1 entries and returns
/// the sample variances with the predictions of Theorem 1 (Adder, section 3.1). Deterministic for a
/// seed. Throws Error(usage).
[[nodiscard]] ScoreVariance score_variance(std::int64_t width, std::int64_t pairs, unsigned seed);

}  // namespace attnscope
