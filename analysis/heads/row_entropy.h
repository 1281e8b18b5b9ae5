// Normalisation and entropy of a map's row, with SIMD.
#pragma once

#include <span>

namespace attnscope {

/// −Σ w ln w over positive weights, in nats; 0 ln 0 is 0. Weights must be finite.
[[nodiscard]] double entropy_of(std::span<const double> weights);

/// Divides the weights by their sum and adds them to `totals`, which has the same size; does
/// nothing if the sum is 0. Weights must be finite and not negative. Returns the entropy of the
/// divided weights in nats, 0 if the sum is 0.
double normalise(std::span<double> weights, std::span<double> totals);

}  // namespace attnscope
