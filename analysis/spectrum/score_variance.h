// How far attention scores of random queries and keys spread: why adder attention has a scale of
// its own.
#pragma once

#include <cstdint>

namespace attnscope {

struct ScoreVariance {
  double dot_product = 0, dot_product_predicted = 0;  ///< Var(q · k); d
  double distance = 0, distance_predicted = 0;  ///< Var(−‖q − k‖₁); 2 d (1 − 2/π)
};

/// Draws `pairs` (at least 2) of standard normal queries and keys of `width` (at least 1) entries,
/// the same for the same seed: sample variances beside what Theorem 1 says (Adder, section 3.1).
/// Throws Error(usage).
[[nodiscard]] ScoreVariance score_variance(std::int64_t width, std::int64_t pairs, unsigned seed);

}  // namespace attnscope
