// Small maps side by side, on one colour scale: how large they and their figure are.
#pragma once

#include <cstdint>

#include "analysis/figure/figure.h"

namespace attnscope {

/// A panel without axes for cells that fill it; row 0 on top.
[[nodiscard]] Panel map_panel(std::int64_t row, std::int64_t column);

struct MapGrid {
  std::int64_t rows = 1, columns = 1;  ///< of panels
  double aspect = 1;                   ///< height of a map over its width
};

/// How many maps stand side by side in a figure so wide, each wide enough to be read; at least 1.
[[nodiscard]] std::int64_t maps_across(double width_mm);

/// Width in mm of the bar of a scale beside the maps, its label in so many lines of `size_pt`.
[[nodiscard]] double bar_room_mm(const ColourScale& scale, std::size_t lines, double size_pt);

/// Width in mm of a frame of a figure so wide, with `columns` beside a bar of `bar_mm` and labels
/// of so many lines.
[[nodiscard]] double frame_beside(double width_mm, double bar_mm, std::size_t label_lines,
                                  std::int64_t columns, double size_pt);

/// Sets the height of a figure whose panels are all placed and whose colour scale stands, so that
/// frames fill `width_mm` beside the scale's bar. Rows of more maps than have room stand in
/// several, each under its own titles; labels that would be too long are broken. Returns a frame's
/// width in mm.
double finish_map_grid(Figure& figure, MapGrid grid, double width_mm);

}  // namespace attnscope
