#include "analysis/report/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/text/csv_field.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;
using TableCell = std::shared_ptr<const Report>;
using JsonCell = std::shared_ptr<const ordered_json>;

bool is_unknown(const ReportValue& value) {
  const double* const number = std::get_if<double>(&value);
  return std::holds_alternative<std::monostate>(value) || (number && std::isnan(*number));
}

std::string cell_text(const ReportColumn& column, std::size_t row) {
  if (column.words) return column.words(row);
  const ReportValue value = column.value(row);
  std::string text = "–";
  if (const auto* const flag = std::get_if<bool>(&value)) {
    text = *flag ? "yes" : "no";
  } else if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
    text = std::to_string(*whole);
  } else if (const auto* const number = std::get_if<double>(&value)) {
    text = number_cell(column.per_cent ? 100 * *number : *number, 0, column.decimals);
  } else if (const auto* const words = std::get_if<std::string>(&value)) {
    text = *words;
  }
  return text + (column.per_cent ? " %" : "");
}

bool shown_in_text(const Report& report, const ReportColumn& column) {
  if (column.title.empty() && !column.name.empty()) return false;
  if (!column.if_known) return true;
  for (std::size_t row = 0; row < report.rows; ++row) {
    if (!is_unknown(column.value(row))) return true;
  }
  return false;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The title in one line.
std::string heading_of(const ReportColumn& column) {
  std::string heading = column.title;
  std::replace(heading.begin(), heading.end(), '\n', ' ');
  return heading;
}

void add_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

std::string csv_text(const ReportColumn& column, const ReportValue& value) {
  if (const auto* const flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* const words = std::get_if<std::string>(&value)) return csv_field(*words);
  const auto* const number = std::get_if<double>(&value);
  if (!number || std::isnan(*number)) return {};
  return column.digits > 0 ? rounded_text(*number, column.digits) : exact(*number);
}

/// The first table in a column that has rows, else one without; null if its cells are no tables.
TableCell table_in(const Report& report, const ReportColumn& column) {
  TableCell found;
  for (std::size_t row = 0; row < report.rows && (!found || found->rows == 0); ++row) {
    const ReportValue value = column.value(row);
    const TableCell* const table = std::get_if<TableCell>(&value);
    if (table == nullptr) return nullptr;
    found = *table;
  }
  return found;
}

/// Headings of the CSV, each after a comma.
std::string csv_headings(const Report& report) {
  std::string line;
  for (const ReportColumn& column : report.columns) {
    if (!column.csv || column.name.empty()) continue;
    const TableCell table = table_in(report, column);
    line += table ? csv_headings(*table) : "," + csv_field(column.name);
  }
  return line;
}

/// Adds each line of the CSV to `text`: its fields, each after a comma, between `first` and `last`.
void add_csv_rows(std::string& text, const Report& report, const std::string& first,
                  const std::string& last) {
  for (std::size_t row = 0; row < report.rows; ++row) {
    std::string before = first, after;
    TableCell table;
    for (const ReportColumn& column : report.columns) {
      if (!column.csv || column.name.empty()) continue;
      const ReportValue value = column.value(row);
      if (const TableCell* const inner = std::get_if<TableCell>(&value)) {
        table = *inner;
      } else {
        (table ? after : before) += "," + csv_text(column, value);
      }
    }
    after += last;
    if (table) {
      add_csv_rows(text, *table, before, after);
    } else {
      text += (before + after).erase(0, 1) + "\n";
    }
  }
}

ordered_json json_of(const ReportValue& value) {
  if (is_unknown(value)) return nullptr;
  if (const auto* const table = std::get_if<TableCell>(&value)) return report_as_json(**table);
  if (const auto* const json = std::get_if<JsonCell>(&value)) return **json;
  if (const auto* const flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* const number = std::get_if<double>(&value)) return *number;
  return std::get<std::string>(value);
}

}  // namespace

ReportValue table_cell(Report table) { return std::make_shared<const Report>(std::move(table)); }

ReportValue json_cell(const ordered_json& json) {
  return std::make_shared<const ordered_json>(json);
}

ReportColumn csv_only(std::string name) { return {.name = std::move(name), .json = false}; }

ReportColumn json_only(std::string name) { return {.name = std::move(name), .csv = false}; }

ReportTexts report_texts(const Report& report) {
  ReportTexts texts{{}, std::vector<std::vector<std::string>>(report.rows)};
  for (const ReportColumn& column : report.columns) {
    if (!shown_in_text(report, column)) continue;
    std::vector<std::string> cells;
    for (std::size_t row = 0; row < report.rows; ++row) cells.push_back(cell_text(column, row));
    // Remarks without a heading are a column only if there are any.
    const bool empty = std::ranges::all_of(cells, [](const auto& cell) { return cell.empty(); });
    if (column.title.empty() && empty) continue;
    texts.columns.push_back(&column);
    for (std::size_t row = 0; row < report.rows; ++row) {
      texts.rows[row].push_back(std::move(cells[row]));
    }
  }
  return texts;
}

std::string report_as_text(const Report& report) {
  const ReportTexts texts = report_texts(report);
  std::vector<std::string> headings;  // one per line
  std::vector<std::string> lines(texts.rows.size());
  for (std::size_t i = 0; i < texts.columns.size(); ++i) {
    const ReportColumn& column = *texts.columns[i];
    const std::vector<std::string> title = lines_in(column.title);
    int width = column.width;
    const std::string gap = width == 0 && i > 0 ? "  " : "";
    if (width == 0) {
      for (const std::string& line : title)
        width = std::max(width, static_cast<int>(columns_of(line)));
      for (const auto& cells : texts.rows) {
        width = std::max(width, static_cast<int>(columns_of(cells[i])));
      }
    }
    const auto cell = [&](const std::string& text) {
      return gap + (column.left ? left_cell(text, width) : right_cell(text, width));
    };
    const std::string blank = i == 0 ? std::string() : std::string(columns_of(headings[0]), ' ');
    while (headings.size() < std::max<std::size_t>(title.size(), 1)) headings.push_back(blank);
    for (std::size_t line = 0; line < headings.size(); ++line) {
      headings[line] += cell(line < title.size() ? title[line] : "");
    }
    for (std::size_t row = 0; row < lines.size(); ++row) lines[row] += cell(texts.rows[row][i]);
  }
  std::string text;
  for (const std::string& line : headings) add_line(text, line);
  for (const std::string& line : lines) add_line(text, line);
  return text;
}

std::string report_legend(const Report& report) {
  std::vector<const ReportColumn*> columns;
  int width = 11;
  for (const ReportColumn& column : report.columns) {
    if (column.formula.empty() || !shown_in_text(report, column)) continue;
    columns.push_back(&column);
    width = std::max(width, static_cast<int>(columns_of(heading_of(column))) + 2);
  }
  std::string text;
  for (const ReportColumn* column : columns) {
    text += left_cell(heading_of(*column), width) + column->formula +
            (column->unit.empty() ? "" : "; in " + column->unit) + "\n";
  }
  return text;
}

std::string report_as_csv(const Report& report) {
  std::string text = csv_headings(report).erase(0, 1) + "\n";
  add_csv_rows(text, report, "", "");
  return text;
}

ordered_json report_as_json(const Report& report) {
  ordered_json list = ordered_json::array();
  for (std::size_t row = 0; row < report.rows; ++row) {
    ordered_json object = ordered_json::object();
    for (const ReportColumn& column : report.columns) {
      if (column.json && !column.name.empty()) object[column.name] = json_of(column.value(row));
    }
    list.push_back(std::move(object));
  }
  return list;
}

std::string report_as_markdown(const Report& report) {
  const ReportTexts texts = report_texts(report);
  std::string text = "|", rule = "|";
  const auto add_cell = [&text](const std::string& cell) {
    text += " ";
    for (const char c : cell) text += c == '|' ? std::string("\\|") : std::string(1, c);
    text += " |";
  };
  for (const ReportColumn* column : texts.columns) {
    add_cell(heading_of(*column));
    rule += column->left ? "---|" : "--:|";
  }
  text += "\n" + rule + "\n";
  for (const auto& cells : texts.rows) {
    text += "|";
    for (const std::string& cell : cells) add_cell(cell);
    text += "\n";
  }
  return text;
}

}  // namespace attnscope
