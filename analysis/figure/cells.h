// Coloured cells of heat maps and pictures, for all renderers.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// A matrix of opaque colours 0xRRGGBB, row 0 on top.
struct Cells {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::uint32_t> colours;  ///< rows × columns

  [[nodiscard]] std::uint32_t at(std::int64_t row, std::int64_t column) const {
    return colours[static_cast<std::size_t>(row * columns + column)];
  }
};

/// Cells of a heat map; each value has one of the colour map's 256 colours.
[[nodiscard]] Cells cells_of(const HeatMap& map, const ColourScale& scale);
[[nodiscard]] Cells cells_of(const Image& image);
/// The heat map over the picture, mixed at map.opacity, at the finer of both resolutions. Mixed
/// here because viewers show seams between translucent neighbours.
[[nodiscard]] Cells mixed(const Image& image, const HeatMap& map, const ColourScale& scale);

/// The cells to draw for a panel's marks, in order: pictures, heat maps, and translucent heat maps
/// mixed with the picture right before them (`marks_used` 2, else 1).
struct CellDrawing {
  std::size_t first_mark = 0, marks_used = 1;
  Cells cells;
};
[[nodiscard]] std::vector<CellDrawing> cell_drawings(const Panel& panel,
                                                     const std::vector<ColourScale>& scales);

/// Calls visit(row, first column, one past the last, colour) for every horizontal run of equal
/// colour.
template <class Visit>
void for_each_run(const Cells& cells, const Visit& visit) {
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    for (std::int64_t first = 0; first < cells.columns;) {
      const std::uint32_t colour = cells.at(row, first);
      std::int64_t end = first + 1;
      while (end < cells.columns && cells.at(row, end) == colour) ++end;
      visit(row, first, end, colour);
      first = end;
    }
  }
}

/// Number of runs of the cells, which is the cost of drawing them as vectors.
[[nodiscard]] std::int64_t run_count(const Cells& cells);

}  // namespace attnscope
