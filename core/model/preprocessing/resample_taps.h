// Weights for antialiased resampling along one axis, for images and position grids.
#pragma once

#include <cstdint>
#include <vector>

namespace attnscope {

struct ResampleTaps {
  std::int64_t first = 0;       ///< the first input position with a weight
  std::vector<double> weights;  ///< weights of `first` and the following positions; their sum is 1
};

/// Taps for resampling `from` positions to `to`, with pixel centres at half integers and the kernel
/// widened when shrinking, as in Pillow and torch.nn.functional.interpolate(antialias=True). The
/// kernel is Keys' with a = −0.5 if `cubic`, otherwise linear.
[[nodiscard]] std::vector<ResampleTaps> antialiased_taps(std::int64_t from, std::int64_t to,
                                                         bool cubic);

}  // namespace attnscope
