#include "analysis/figure/recipes/map_grid.h"

#include <algorithm>
#include <map>

#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"

namespace attnscope {

namespace {

constexpr double gap_mm = 1.8, mm_of_pt = 25.4 / 72;

double line_mm(double size_pt) { return 1.4 * size_pt * mm_of_pt; }

/// Titles by row and column; a row without titles has those of the nearest row above.
using Titles = std::map<std::int64_t, std::map<std::int64_t, std::string>>;
Titles titles_of(const Figure& figure, std::int64_t rows) {
  Titles titles;
  for (const Panel& panel : figure.panels) {
    if (!panel.title.empty()) titles[panel.row][panel.column] = panel.title;
  }
  for (std::int64_t row = 1; row < rows; ++row) {
    if (!titles.contains(row)) titles[row] = titles[row - 1];
  }
  return titles;
}

/// Splits each row that is too long into rows of equal length.
void wrap(Figure& figure, MapGrid& grid, std::int64_t across) {
  if (grid.columns <= across) return;
  const std::int64_t lines = (grid.columns + across - 1) / across;
  const std::int64_t length = (grid.columns + lines - 1) / lines;
  Titles titles = titles_of(figure, grid.rows);
  std::map<std::int64_t, std::string> labels;
  std::map<std::int64_t, std::int64_t> rows;  // rows that contain panels
  for (const Panel& panel : figure.panels) {
    if (!panel.y.label.empty()) labels.emplace(panel.row, panel.y.label);
    rows[panel.row * lines + panel.column / length] = 0;
  }
  std::int64_t next = 0;
  for (auto& [wanted, row] : rows) row = next++;
  for (Panel& panel : figure.panels) {
    const std::int64_t line = panel.column / length;
    panel.title = titles[panel.row][panel.column];
    if (line > 0 && panel.column % length == 0) panel.y.label = labels[panel.row];
    panel.row = rows[panel.row * lines + line];
    panel.column %= length;
  }
  grid.rows = next;
  grid.columns = length;
}

/// Sum over the rows of panels of the number of lines in the longest text that `text` selects.
template <typename Text>
std::size_t lines_in_rows(const Figure& figure, const Text& text) {
  std::map<std::int64_t, std::size_t> lines;
  for (const Panel& panel : figure.panels) {
    lines[panel.row] = std::max(lines[panel.row], lines_of(text(panel)));
  }
  std::size_t sum = 0;
  for (const auto& [row, most] : lines) sum += most;
  return sum;
}

std::size_t lines_of_row_labels(const Figure& figure) {
  std::size_t most = 0;
  for (const Panel& panel : figure.panels) most = std::max(most, lines_of(panel.y.label));
  return most;
}

}  // namespace

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

std::int64_t maps_across(double width_mm) {
  constexpr double readable_mm = 8, bar_mm = 14.5, labels_mm = 3.5;
  const double room_mm = width_mm - bar_mm - labels_mm + gap_mm;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(room_mm / (readable_mm + gap_mm)));
}

double bars_room_mm(const Figure& figure) {
  constexpr double bar_mm = 3.9, tick_mm = 1.4, padding_mm = 1;
  const double size_pt = figure.font_size_pt;
  double widest_mm = 0;
  for (const ColourScale& scale : figure.colour_scales) {
    double ticks_mm = 0;
    for (const Tick& tick : bar_ticks(scale)) {
      ticks_mm = std::max(ticks_mm, text_mm(tick.label, size_pt - 0.75));
    }
    const auto lines = static_cast<double>(lines_of(scale.label));
    widest_mm = std::max(
        widest_mm, bar_mm + tick_mm + ticks_mm + padding_mm + 1.2 * lines * size_pt * mm_of_pt);
  }
  return widest_mm;
}

double frame_beside(double width_mm, double bar_mm, std::size_t label_lines, std::int64_t columns,
                    double size_pt) {
  const auto across = static_cast<double>(columns);
  return (width_mm - bar_mm - static_cast<double>(label_lines) * line_mm(size_pt) -
          (across - 1) * gap_mm) /
         across;
}

double finish_map_grid(Figure& figure, MapGrid grid, double width_mm) {
  wrap(figure, grid, maps_across(width_mm));
  const double size_pt = figure.font_size_pt;
  const auto frame_width = [&] {
    return frame_beside(width_mm, bars_room_mm(figure), lines_of_row_labels(figure), grid.columns,
                        size_pt);
  };
  const auto down = static_cast<double>(grid.rows);
  const double first_mm = frame_width();  // width before labels are broken
  for (Panel& panel : figure.panels) {
    panel.title = fitted(panel.title, first_mm + gap_mm / 2, size_pt);
    panel.y.label = row_label(panel.y.label, first_mm * grid.aspect + gap_mm, size_pt);
  }
  if (!figure.colour_scales.empty()) {
    std::string& label = figure.colour_scales.front().label;
    label = fitted(label, down * (first_mm * grid.aspect + gap_mm), size_pt);
  }
  const double frame_mm = frame_width();
  const std::size_t above = lines_in_rows(figure, [](const Panel& panel) { return panel.title; });
  const std::size_t below = lines_in_rows(figure, [](const Panel& panel) { return panel.x.label; });
  // If each row has a bar, the ends of bars need room between the rows: an arrowhead above, and
  // half a number below.
  constexpr double arrow_mm = 5 * mm_of_pt;
  const double ends_mm =
      figure.colour_scales.size() > 1 ? (down - 1) * (arrow_mm + line_mm(size_pt) / 2) : 0;
  figure.height_mm =
      (static_cast<double>(above) + 1.1 * static_cast<double>(below)) * line_mm(size_pt) + 0.7 -
      gap_mm + down * (frame_mm * grid.aspect + gap_mm) + ends_mm;
  return frame_mm;
}

}  // namespace attnscope
