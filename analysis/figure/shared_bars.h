// Which colour bars stand beside which rows of panels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

struct SharedBar {
  std::size_t colour_scale = 0;
  std::int64_t first_row = 0, last_row = 0;  ///< of panels that it stands beside
  std::size_t rank = 0;                      ///< 0 stands next to the panels, 1 outside that, …
};

/// The bars beside the panels of one area (0 where the figure has none), in the order of their
/// scales; those that have an area of their own are left out. Bars of the same rows stand one above
/// the other where there are rows enough.
[[nodiscard]] std::vector<SharedBar> shared_bars(const Figure& figure, std::size_t area);

}  // namespace attnscope
