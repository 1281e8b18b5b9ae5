// Sizes of grids of small maps with one colour scale.
#pragma once

#include <cstdint>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Number of cells per side of a map in a figure, at most. Larger maps are shown as means of
/// blocks, which print as well.
inline constexpr std::int64_t most_figure_cells = 784;

/// A panel without axes for cells that fill it; row 0 on top.
[[nodiscard]] Panel map_panel(std::int64_t row, std::int64_t column);

struct MapGrid {
  std::int64_t rows = 1, columns = 1;  ///< numbers of rows and columns of panels
  double aspect = 1;                   ///< height of a map over its width
};

/// Number of legible maps side by side in a figure of this width; at least 1.
[[nodiscard]] std::int64_t maps_across(double width_mm);

/// Width in mm of the figure's bars, one below the other, next to the maps: that of the widest.
[[nodiscard]] double bars_room_mm(const Figure& figure);

/// Width in mm of a frame in a figure of `width_mm`, with `columns` frames next to a bar of
/// `bar_mm` and row labels of `label_lines` lines.
[[nodiscard]] double frame_beside(double width_mm, double bar_mm, std::size_t label_lines,
                                  std::int64_t columns, double size_pt);

/// Sets the height of a figure whose panels and colour scale, if it has one, are complete, so that
/// frames fill `width_mm` next to the bar. Rows with too many maps are wrapped into several rows
/// with their own titles; labels that are too long are broken. Returns the width of a frame in mm.
double finish_map_grid(Figure& figure, MapGrid grid, double width_mm);

}  // namespace attnscope
