// Colour bars: their places next to rows of panels, and whether values lie beyond their ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

struct SharedBar {
  std::size_t colour_scale = 0;
  std::int64_t first_row = 0, last_row = 0;  ///< rows of panels next to the bar
  std::size_t rank = 0;                      ///< 0: next to the panels, 1: outside that bar, …
};

/// The bars next to the panels of one area (0 if the figure has no areas), in the order of their
/// scales; scales with a bar area of their own are omitted. Bars of the same rows are stacked if
/// there are enough rows.
[[nodiscard]] std::vector<SharedBar> shared_bars(const Figure& figure, std::size_t area);

/// The ends of a colour scale that values lie beyond.
struct Clipping {
  bool below = false, above = false;

  bool operator==(const Clipping&) const = default;
};

/// True below or above if heat maps that share the scale hold values beyond that end, which have
/// the colour of the end. On a logarithmic scale, all values under logarithmic_floor are below. NaN
/// is ignored.
[[nodiscard]] Clipping clipping_of(const Figure& figure, std::size_t colour_scale);

}  // namespace attnscope
