// Which places along one axis make up each new one, antialiased: of images and of position grids.
#pragma once

#include <cstdint>
#include <vector>

namespace attnscope {

struct ResampleTaps {
  std::int64_t first = 0;       ///< the first place that counts
  std::vector<double> weights;  ///< of it and those after it; their sum is 1
};

/// From `from` places to `to`, pixel centres at half integers, the kernel widened where the axis
/// shrinks: as Pillow and torch.nn.functional.interpolate(antialias=True). Cubic is Keys' kernel
/// with a = −0.5, else linear.
[[nodiscard]] std::vector<ResampleTaps> antialiased_taps(std::int64_t from, std::int64_t to,
                                                         bool cubic);

}  // namespace attnscope
