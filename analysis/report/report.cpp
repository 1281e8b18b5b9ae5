#include "analysis/report/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

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

std::string cell_text(const ReportColumn& column, const ReportValue& value) {
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

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The title in one line.
std::string column_heading(const ReportColumn& column) {
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

enum class LineFormat { text, csv };

bool has_column(LineFormat format, const ReportColumn& column) {
  if (format == LineFormat::csv) return column.csv && !column.name.empty();
  return !column.title.empty() || column.name.empty();
}

/// The table that takes the place of a cell with this value; null if the cell stays.
TableCell table_at(LineFormat format, const ReportColumn& column, const ReportValue& value) {
  const TableCell* const table = column.csv ? std::get_if<TableCell>(&value) : nullptr;
  return table && (format == LineFormat::csv || has_titles(**table)) ? *table : nullptr;
}

/// The first table in a column that has rows, else one without; null if its cells are no tables.
TableCell table_in(LineFormat format, const Report& report, const ReportColumn& column) {
  if (!column.csv || !column.value) return nullptr;
  TableCell found = column.table ? table_at(format, column, column.table) : nullptr;
  for (std::size_t row = 0; row < report.rows && (!found || found->rows == 0); ++row) {
    found = table_at(format, column, column.value(row));
    if (!found) return nullptr;
  }
  return found;
}

/// Adds the columns of the lines; those of tables in cells take the place of the cells' column.
void add_columns(std::vector<ReportColumn>& columns, LineFormat format, const Report& report) {
  for (const ReportColumn& column : report.columns) {
    if (const TableCell table = table_in(format, report, column)) {
      add_columns(columns, format, *table);
    } else if (has_column(format, column)) {
      columns.push_back(column);
    }
  }
}

std::string cell_of(LineFormat format, const ReportColumn& column, const ReportValue& value,
                    std::size_t row) {
  if (column.words && format == LineFormat::text) return column.words(row);
  if (column.words && column.words_in_csv) return csv_field(column.words(row));
  return format == LineFormat::csv ? csv_text(column, value) : cell_text(column, value);
}

using TextCells = std::vector<std::string>;

/// Gives the cells of each line to `add`, between `first` and `last`. CSV has no line for an empty
/// table in a cell, text has one, without its cells.
void for_each_line(LineFormat format, const Report& report, const TextCells& first,
                   const TextCells& last, const std::function<void(const TextCells&)>& add) {
  for (std::size_t row = 0; row < report.rows; ++row) {
    TextCells before = first, after;
    TableCell table;
    for (const ReportColumn& column : report.columns) {
      const bool shown = has_column(format, column);
      if (!shown && !column.csv) continue;
      const ReportValue value = column.value ? column.value(row) : ReportValue();
      if (TableCell inner = table_at(format, column, value)) {
        table = std::move(inner);
      } else if (shown) {
        (table ? after : before).push_back(cell_of(format, column, value, row));
      }
    }
    after.insert(after.end(), last.begin(), last.end());
    if (table && table->rows == 0 && format == LineFormat::text) {
      std::vector<ReportColumn> columns;
      add_columns(columns, format, *table);
      before.resize(before.size() + columns.size());
      table = nullptr;
    }
    if (table) {
      for_each_line(format, *table, before, after, add);
    } else {
      before.insert(before.end(), after.begin(), after.end());
      add(before);
    }
  }
}

}  // namespace

ordered_json cell_as_json(const ReportValue& value) {
  if (is_unknown(value)) return nullptr;
  if (const auto* const table = std::get_if<TableCell>(&value)) return report_as_json(**table);
  if (const auto* const json = std::get_if<JsonCell>(&value)) return **json;
  if (const auto* const flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* const number = std::get_if<double>(&value)) return *number;
  return std::get<std::string>(value);
}

ReportValue table_cell(Report table) { return std::make_shared<const Report>(std::move(table)); }

ReportValue json_cell(const ordered_json& json) {
  return std::make_shared<const ordered_json>(json);
}

ReportColumn csv_only(std::string name) { return {.name = std::move(name), .json = false}; }

ReportColumn json_only(std::string name) { return {.name = std::move(name), .csv = false}; }

bool has_titles(const Report& report) {
  return std::ranges::any_of(report.columns,
                             [](const ReportColumn& column) { return !column.title.empty(); });
}

ReportTexts report_texts(const Report& report) {
  std::vector<ReportColumn> columns;
  std::vector<TextCells> lines;
  add_columns(columns, LineFormat::text, report);
  for_each_line(LineFormat::text, report, {}, {},
                [&](const TextCells& cells) { lines.push_back(cells); });
  ReportTexts texts{{}, std::vector<TextCells>(lines.size())};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto all = [&](auto is) {
      return std::ranges::all_of(lines, [&](const TextCells& cells) { return is(cells[i]); });
    };
    // Remarks without a heading are a column only if there are any.
    if (columns[i].title.empty() && all([](const auto& cell) { return cell.empty(); })) continue;
    if (columns[i].if_known && all([](const auto& cell) { return cell.starts_with("–"); }))
      continue;
    texts.columns.push_back(std::move(columns[i]));
    for (std::size_t line = 0; line < lines.size(); ++line) {
      texts.rows[line].push_back(std::move(lines[line][i]));
    }
  }
  return texts;
}

std::string report_as_text(const Report& report) {
  const ReportTexts texts = report_texts(report);
  std::vector<std::string> headings;  // one per line
  std::vector<std::string> lines(texts.rows.size());
  for (std::size_t i = 0; i < texts.columns.size(); ++i) {
    const ReportColumn& column = texts.columns[i];
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
  std::vector<ReportColumn> columns = report_texts(report).columns;
  std::erase_if(columns, [](const ReportColumn& column) { return column.formula.empty(); });
  int width = 11;
  for (const ReportColumn& column : columns) {
    width = std::max(width, static_cast<int>(columns_of(column_heading(column))) + 2);
  }
  std::string text;
  for (const ReportColumn& column : columns) {
    text += left_cell(column_heading(column), width) + column.formula +
            (column.unit.empty() ? "" : "; in " + column.unit) + "\n";
  }
  return text;
}

std::string report_as_csv(const Report& report) {
  std::vector<ReportColumn> columns;
  add_columns(columns, LineFormat::csv, report);
  TextCells headings;
  for (const ReportColumn& column : columns) headings.push_back(csv_field(column.name));
  std::string text;
  const auto add = [&text](const TextCells& cells) {
    for (const std::string& cell : cells) text += (&cell == cells.data() ? "" : ",") + cell;
    text += "\n";
  };
  add(headings);
  for_each_line(LineFormat::csv, report, {}, {}, add);
  return text;
}

ordered_json report_as_json(const Report& report) {
  ordered_json list = ordered_json::array();
  for (std::size_t row = 0; row < report.rows; ++row) {
    ordered_json object = ordered_json::object();
    for (const ReportColumn& column : report.columns) {
      if (column.json && !column.name.empty())
        object[column.name] = cell_as_json(column.value(row));
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
  for (const ReportColumn& column : texts.columns) {
    add_cell(column_heading(column));
    rule += column.left ? "---|" : "--:|";
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
