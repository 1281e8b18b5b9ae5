// Results as tables: each number is described once, with its value, and printed as text, CSV, JSON
// or Markdown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace attnscope {

struct Report;

/// One cell. Unknown (the first alternative, or NaN) is "–" in text, empty in CSV and null in JSON.
/// A table in a cell is a list of objects in JSON; CSV has one line for each of its rows, and text
/// too if its columns have titles. A list or object of JSON exists only in JSON.
using ReportValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string,
                 std::shared_ptr<const Report>, std::shared_ptr<const nlohmann::ordered_json>>;

/// `value` if it is known, else the unknown value.
template <class Value>
[[nodiscard]] ReportValue known_if(bool known, Value value) {
  return known ? ReportValue(std::move(value)) : ReportValue();
}
template <class Value>
[[nodiscard]] ReportValue if_any(const std::optional<Value>& value) {
  return value ? ReportValue(*value) : ReportValue();
}
/// `index`, or unknown if it is negative.
[[nodiscard]] inline ReportValue if_any(std::int64_t index) { return known_if(index >= 0, index); }

[[nodiscard]] ReportValue table_cell(Report table);
[[nodiscard]] ReportValue json_cell(const nlohmann::ordered_json& json);

/// Text shows the columns that have a title, or no name; CSV and JSON those that have a name.
struct ReportColumn {
  std::string name = {};     ///< key in JSON, heading in CSV: "equivalent_rank"
  std::string title = {};    ///< heading in text and Markdown; "\n" begins its second line
  std::string unit = {};     ///< unit of the numbers, in the legend: "pixels"
  std::string formula = {};  ///< exact definition, in the legend; empty: not in the legend
  /// Characters of the column in text, with the blanks that separate it from the column before;
  /// 0: as many as its longest cell needs, after two blanks.
  int width = 0;
  int decimals = 2;       ///< digits after the point in text
  int digits = 9;         ///< significant digits in CSV; 0: all that tell the number from others
  bool left = false;      ///< aligned to the left in text
  bool per_cent = false;  ///< text shows 100 times the number and " %"
  bool if_known = false;  ///< text leaves the column out if all its values are unknown
  bool csv = true, json = true;  ///< outputs that show the column, if it has a name
  std::function<ReportValue(std::size_t row)> value = {};
  std::function<std::string(std::size_t row)> words = {};  ///< the cell in text, if not the value
  bool words_in_csv = false;                               ///< CSV has the words, too
  /// The tables in the cells without their rows, for the headings of a report that may be empty.
  std::shared_ptr<const Report> table = {};
};

/// A column of CSV or of JSON alone.
[[nodiscard]] ReportColumn csv_only(std::string name);
[[nodiscard]] ReportColumn json_only(std::string name);

/// The value of a column: the member, or unknown if it is negative.
template <class Row>
[[nodiscard]] auto if_any(std::int64_t Row::*index) {
  return [index](const Row& row) { return if_any(row.*index); };
}

/// Columns and a number of rows. Values are computed when they are written, and what their
/// functions refer to must live until then.
struct Report {
  std::vector<ReportColumn> columns;
  std::size_t rows = 0;
};

/// A column over rows of one type: its value of a row is a member or a function of it.
template <class Row>
struct ColumnOf {
  ColumnOf(ReportColumn description, std::function<ReportValue(const Row&)> value_of,
           std::function<std::string(const Row&)> words_of = nullptr)
      : column(std::move(description)), value(std::move(value_of)), words(std::move(words_of)) {}

  ReportColumn column;
  std::function<ReportValue(const Row&)> value;
  std::function<std::string(const Row&)> words;
};

/// Adds `more` at the end of `columns`.
template <class Row>
void append(std::vector<ColumnOf<Row>>& columns,
            std::type_identity_t<std::vector<ColumnOf<Row>>> more) {
  for (ColumnOf<Row>& column : more) columns.push_back(std::move(column));
}

template <class Row>
[[nodiscard]] Report report_of(const std::shared_ptr<const std::vector<Row>>& rows,
                               std::vector<ColumnOf<Row>> columns) {
  Report report{{}, rows->size()};
  for (ColumnOf<Row>& of : columns) {
    if (of.value) {
      of.column.value = [rows, value = std::move(of.value)](std::size_t row) {
        return value((*rows)[row]);
      };
    }
    if (of.words) {
      of.column.words = [rows, words = std::move(of.words)](std::size_t row) {
        return words((*rows)[row]);
      };
    }
    report.columns.push_back(std::move(of.column));
  }
  return report;
}
/// The report keeps the rows.
template <class Row>
[[nodiscard]] Report report_of(std::vector<Row> rows, std::vector<ColumnOf<Row>> columns) {
  return report_of(std::make_shared<const std::vector<Row>>(std::move(rows)), std::move(columns));
}
/// The rows must outlive the report.
template <class Row>
[[nodiscard]] Report report_on(const std::vector<Row>& rows,
                               std::type_identity_t<std::vector<ColumnOf<Row>>> columns) {
  return report_of(std::shared_ptr<const std::vector<Row>>(std::shared_ptr<void>(), &rows),
                   std::move(columns));
}

/// The headings, then one line for each row, without blanks at the end of a line.
[[nodiscard]] std::string report_as_text(const Report& report);
/// One line for each column of the text that has a formula: its title, formula and unit.
[[nodiscard]] std::string report_legend(const Report& report);

/// The line of headings, then each row. A table in a cell takes the cell's place: its headings in
/// the first line, and one line for each of its rows, with the other cells repeated.
[[nodiscard]] std::string report_as_csv(const Report& report);

/// Null if unknown; a list of objects for a table.
[[nodiscard]] nlohmann::ordered_json cell_as_json(const ReportValue& value);

/// A list of objects, one for each row.
[[nodiscard]] nlohmann::ordered_json report_as_json(const Report& report);

/// The columns of the text as a table of Markdown.
[[nodiscard]] std::string report_as_markdown(const Report& report);

/// True if a column has a title: if the report can be printed as text.
[[nodiscard]] bool has_titles(const Report& report);

/// Headings and cells of the text as strings.
struct ReportTexts {
  std::vector<ReportColumn> columns;
  std::vector<std::vector<std::string>> rows;
};
[[nodiscard]] ReportTexts report_texts(const Report& report);

}  // namespace attnscope
