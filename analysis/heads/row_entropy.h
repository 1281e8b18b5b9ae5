// A row of a map as a distribution and its entropy, by SIMD.
#pragma once

#include <span>

namespace attnscope {

/// −Σ w ln w over weights that are positive, in nats; 0 ln 0 is 0. Weights are finite.
[[nodiscard]] double entropy_of(std::span<const double> weights);

/// Where the sum of weights is above 0, divides them by it and adds them then to `totals`, of as
/// many. Weights are finite, none below 0. Returns their entropy, as above.
double normalise(std::span<double> weights, std::span<double> totals);

}  // namespace attnscope
