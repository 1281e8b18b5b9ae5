#include "analysis/figure/table.h"

#include <algorithm>
#include <numeric>

#include "analysis/figure/text_layout.h"
#include "core/text/table_cell.h"

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
// Range of the figure's font size; texts in the table are at least 6 pt.
constexpr double kLargestPt = 7, kSmallestPt = 6.75;

double widest_cell(const Table& table, std::size_t column) {
  double widest = text_ems(table.header[column]);
  for (const auto& row : table.rows) widest = std::max(widest, text_ems(row[column]));
  return widest;
}

std::vector<double> column_widths(const Table& table) {
  std::vector<double> widths;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    widths.push_back(widest_cell(table, column) + kColumnGapEms);
  }
  return widths;
}

/// Largest font size at which the columns fit; texts are drawn 0.75 pt smaller than this size.
double fitting_pt(const std::vector<double>& widths, double width_mm) {
  return width_mm / 25.4 * 72 / std::accumulate(widths.begin(), widths.end(), 0.0) + 0.75;
}

/// Breaks the longest text of the widest column, again and again, until the table fits at its
/// smallest font size, or no text can be broken further.
void break_cells(Table& table, double width_mm) {
  const Table whole = table;
  std::vector<double> widths = column_widths(table);
  std::vector<bool> narrowest(widths.size(), false);
  while (fitting_pt(widths, width_mm) < kSmallestPt) {
    std::size_t widest = widths.size();
    for (std::size_t column = 0; column < std::min(table.text_columns, widths.size()); ++column) {
      if (!narrowest[column] && (widest == widths.size() || widths[column] > widths[widest])) {
        widest = column;
      }
    }
    if (widest == widths.size()) return;
    constexpr double less = 0.01;  // ems: the longest line no longer fits
    const double wanted = widths[widest] - kColumnGapEms - less;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      table.rows[row][widest] = wrapped(whole.rows[row][widest], wanted);
    }
    const double before = widths[widest];
    widths = column_widths(table);
    narrowest[widest] = !(widths[widest] < before);
  }
}

std::size_t lines_in(const std::vector<std::string>& cells) {
  std::size_t most = 1;
  for (const std::string& cell : cells) most = std::max(most, lines_of(cell));
  return most;
}

/// Height of a row, in units of a row with one line.
double height_of(const std::vector<std::string>& cells) {
  constexpr double next_line = 0.6;
  return 1 + next_line * (static_cast<double>(lines_in(cells)) - 1);
}

double height_of(const std::vector<std::vector<std::string>>& rows) {
  double sum = 0;
  for (const auto& row : rows) sum += height_of(row);
  return sum;
}

Panel table_panel(const Table& table, const std::vector<double>& widths) {
  std::vector<double> middles;
  double right = 0;
  for (const double width : widths) {
    middles.push_back(right + width / 2);
    right += width;
  }
  const double rows = height_of(table.rows);
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
  double above = 0;
  for (const auto& row : table.rows) {
    add_row(row, -above - height_of(row) / 2);
    above += height_of(row);
  }
  add_rule(-rows - 0.1);
  return panel;
}

}  // namespace

Table table_of(const Report& report) {
  ReportTexts texts = report_texts(report);
  Table table{{}, std::move(texts.rows), 0};
  for (const ReportColumn& column : texts.columns) {
    if (column.left && table.text_columns == table.header.size()) ++table.text_columns;
    table.header.push_back(column.title);
  }
  return table;
}

Table broken_table(const Table& table, double width_mm) {
  Table drawn = table;
  if (fitting_pt(column_widths(drawn), width_mm) < kLargestPt) {
    for (std::string& heading : drawn.header) heading = in_two_lines(heading);
    break_cells(drawn, width_mm);
  }
  return drawn;
}

void make_table_figure(Figure& figure, Table table, double width_mm) {
  const Table drawn = broken_table(table, width_mm);
  const std::vector<double> widths = column_widths(drawn);
  figure.panels = {table_panel(drawn, widths)};
  figure.font_size_pt = std::clamp(fitting_pt(widths, width_mm), kSmallestPt, kLargestPt);
  figure.height_mm = 5.0 * (height_of(drawn.rows) + 1) + 4;
  figure.table = std::move(table);
}

}  // namespace attnscope
