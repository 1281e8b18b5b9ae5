// Small maps side by side, on one colour scale: how large they and their figure are.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/figure/figure.h"

namespace attnscope {

/// A panel without axes for cells that fill it; row 0 on top.
[[nodiscard]] Panel map_panel(std::int64_t row, std::int64_t column);

struct MapGrid {
  std::int64_t rows = 1, columns = 1;  ///< of panels
  double aspect = 1;                   ///< height of a map over its width
  bool labelled_rows = false;          ///< labels left of the first column
  bool titled_rows = false;            ///< titles over every row, not over the first alone
};

/// Sets the height of a figure whose panels are all placed and whose colour scale stands, so that
/// frames fill `width_mm` beside the scale's bar; breaks labels that would be too long.
void finish_map_grid(Figure& figure, const MapGrid& grid, double width_mm);

/// How many maps stand side by side in a figure so wide, each wide enough to be read; at least 1.
[[nodiscard]] std::int64_t maps_across(double width_mm);

/// "layer 3" beside a row of maps, or "3" where `columns` of them leave no room for more.
[[nodiscard]] std::string row_label(std::int64_t layer, std::int64_t columns);

}  // namespace attnscope
