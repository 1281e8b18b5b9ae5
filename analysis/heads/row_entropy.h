// Shannon's entropy of many small numbers, by SIMD.
#pragma once

#include <span>

namespace attnscope {

/// −Σ w ln w over weights that are positive, in nats; 0 ln 0 is 0. Weights are finite.
[[nodiscard]] double entropy_of(std::span<const double> weights);

}  // namespace attnscope
