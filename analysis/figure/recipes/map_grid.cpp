#include "analysis/figure/recipes/map_grid.h"

#include <algorithm>

#include "analysis/figure/text_room.h"

namespace attnscope {

Panel map_panel(std::int64_t row, std::int64_t column) {
  Panel panel;
  panel.row = row;
  panel.column = column;
  panel.square_cells = true;
  panel.reversed_y = true;
  panel.x.visible = false;
  panel.y.visible = false;
  return panel;
}

namespace {

constexpr double bar_mm = 14.5, gap_mm = 1.8;

}  // namespace

std::int64_t maps_across(double width_mm) {
  constexpr double readable_mm = 8.5, labels_mm = 3.5;
  const double room_mm = width_mm - bar_mm - labels_mm + gap_mm;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(room_mm / (readable_mm + gap_mm)));
}

void finish_map_grid(Figure& figure, const MapGrid& grid, double width_mm) {
  const double text_mm = figure.font_size_pt * 25.4 / 72 * 1.4;
  const auto across = static_cast<double>(grid.columns), down = static_cast<double>(grid.rows);
  const double frame_mm =
      (width_mm - bar_mm - (grid.labelled_rows ? text_mm : 0) - (across - 1) * gap_mm) / across;
  const double height_mm = frame_mm * grid.aspect;
  for (Panel& panel : figure.panels) {
    panel.y.label = fitted(panel.y.label, height_mm + gap_mm, figure.font_size_pt);
  }
  figure.height_mm =
      (grid.titled_rows ? down : 1) * text_mm + 0.7 - gap_mm + down * (height_mm + gap_mm);
  ColourScale& scale = figure.colour_scales.front();
  scale.label = fitted(scale.label, figure.height_mm - text_mm, figure.font_size_pt);
}

std::string row_label(std::int64_t layer, std::int64_t columns) {
  constexpr std::int64_t most = 6;
  return (columns > most ? "" : "layer ") + std::to_string(layer);
}

}  // namespace attnscope
