#include "analysis/figure/table.h"

#include <algorithm>
#include <numeric>

#include "analysis/figure/text_room.h"
#include "core/text/csv_field.h"

namespace attnscope {

std::string table_as_csv(const Table& table) {
  std::string out;
  const auto add = [&out](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + csv_field(cells[i]);
    out += "\n";
  };
  add(table.header);
  for (const auto& row : table.rows) add(row);
  return out;
}

namespace {

constexpr double kColumnGapEms = 1.2;
constexpr double kLargestPt = 7, kSmallestPt = 6.75;  // texts in it are 6 pt then

std::vector<double> column_widths(const Table& table) {
  std::vector<double> widths;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    double widest = text_ems(table.header[column]);
    for (const auto& row : table.rows) widest = std::max(widest, text_ems(row[column]));
    widths.push_back(widest + kColumnGapEms);
  }
  return widths;
}

/// Texts are drawn a little smaller than the figure's type.
double fitting_pt(const std::vector<double>& widths, double width_mm) {
  return width_mm / 25.4 * 72 / std::accumulate(widths.begin(), widths.end(), 0.0) + 0.75;
}

Panel table_panel(const Table& table, const std::vector<double>& widths) {
  std::vector<double> middles;
  double right = 0;
  for (const double width : widths) {
    middles.push_back(right + width / 2);
    right += width;
  }
  const auto rows = static_cast<double>(table.rows.size());
  Panel panel;
  panel.x.visible = panel.y.visible = false;
  panel.x.minimum = 0;
  panel.x.maximum = right;
  panel.y.minimum = -rows - 0.2;
  panel.y.maximum = 1.2;
  const auto add_row = [&](const std::vector<std::string>& cells, double y) {
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (cells[column].empty()) continue;
      panel.marks.emplace_back(TextMark{.x = middles[column], .y = y, .text = cells[column]});
    }
  };
  const auto add_rule = [&](double y) {
    panel.marks.emplace_back(Rule{.at = y,
                                  .vertical = false,
                                  .text = {},
                                  .colour = {0, 0, 0, 255},
                                  .style = LineStyle::solid});
  };
  add_rule(1.1);
  add_row(table.header, 0.55);
  add_rule(0);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    add_row(table.rows[i], -static_cast<double>(i) - 0.5);
  }
  add_rule(-rows - 0.1);
  return panel;
}

}  // namespace

void make_table_figure(Figure& figure, Table table, double width_mm) {
  Table drawn = table;
  std::vector<double> widths = column_widths(drawn);
  if (fitting_pt(widths, width_mm) < kLargestPt) {
    for (std::string& heading : drawn.header) heading = in_two_lines(heading);
    widths = column_widths(drawn);
  }
  figure.panels = {table_panel(drawn, widths)};
  figure.font_size_pt = std::clamp(fitting_pt(widths, width_mm), kSmallestPt, kLargestPt);
  figure.height_mm = 5.0 * static_cast<double>(table.rows.size() + 1) + 4;
  figure.table = std::move(table);
}

}  // namespace attnscope
