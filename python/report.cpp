#include "python/report.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <vector>

namespace attnscope::python {

namespace {

using nlohmann::ordered_json;

py::object from_json(const ordered_json& json) {
  const std::string written = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return py::module_::import("json").attr("loads")(text(written));
}

py::object from_value(const ReportValue& value) {
  if (const auto* const flag = std::get_if<bool>(&value)) return py::bool_(*flag);
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) return py::int_(*whole);
  if (const auto* const words = std::get_if<std::string>(&value)) return text(*words);
  if (const auto* const number = std::get_if<double>(&value)) {
    return std::isnan(*number) ? py::object(py::none()) : py::float_(*number);
  }
  if (const auto* const table = std::get_if<std::shared_ptr<const Report>>(&value)) {
    return from_json(report_as_json(**table));
  }
  if (const auto* const json = std::get_if<std::shared_ptr<const ordered_json>>(&value)) {
    return from_json(**json);
  }
  return py::none();
}

/// The columns that have a name in JSON, which the rows have too.
std::vector<const ReportColumn*> named_columns(const PythonReport& report) {
  std::vector<const ReportColumn*> columns;
  for (const ReportColumn& column : report.table.columns) {
    if (column.json && !column.name.empty() && column.value) columns.push_back(&column);
  }
  return columns;
}

py::list column_names(const PythonReport& report) {
  py::list names;
  for (const ReportColumn* const column : named_columns(report)) names.append(text(column->name));
  return names;
}

py::dict row_of(const PythonReport& report, std::int64_t index) {
  const auto rows = static_cast<std::int64_t>(report.table.rows);
  if (index < -rows || index >= rows) {
    throw py::index_error("row " + std::to_string(index) + " of a report with " +
                          std::to_string(rows));
  }
  py::dict row;
  for (const ReportColumn* const column : named_columns(report)) {
    row[text(column->name)] =
        from_value(column->value(static_cast<std::size_t>(index < 0 ? index + rows : index)));
  }
  return row;
}

/// The values of a column: an array of int64 or float64 (NaN where unknown) if all are numbers, of
/// bool if all are flags, else a list.
py::object column_of(const PythonReport& report, const std::string& name) {
  for (const ReportColumn* const column : named_columns(report)) {
    if (column->name != name) continue;
    std::vector<ReportValue> values;
    std::size_t whole = 0, numbers = 0, flags = 0, unknown = 0;
    for (std::size_t row = 0; row < report.table.rows; ++row) {
      const ReportValue& value = values.emplace_back(column->value(row));
      whole += std::holds_alternative<std::int64_t>(value);
      numbers += std::holds_alternative<double>(value);
      flags += std::holds_alternative<bool>(value);
      unknown += std::holds_alternative<std::monostate>(value);
    }
    py::list list;
    for (const ReportValue& value : values) list.append(from_value(value));
    if (values.empty()) return list;
    const py::object array = py::module_::import("numpy").attr("array");
    if (whole == values.size()) return array(list, "int64");
    if (flags == values.size()) return array(list, "bool");
    if (whole + numbers > 0 && whole + numbers + unknown == values.size()) {
      return array(list, "float64");  // NumPy turns None into NaN
    }
    return list;
  }
  throw py::key_error(name);
}

std::string report_in_words(const PythonReport& report) {
  std::string words = report.heading;
  if (!words.empty()) words += "\n";
  if (has_titles(report.table)) words += report_as_text(report.table);
  if (!report.notes.empty()) words += "\n" + report.notes;
  words.erase(words.find_last_not_of('\n') + 1);
  return words;
}

std::string report_as_html(const PythonReport& report) {
  const py::object escape = py::module_::import("html").attr("escape");
  const auto escaped = [&](const std::string& words) {
    return escape(text(words)).cast<std::string>();
  };
  const ReportTexts table = report_texts(report.table);
  std::string html = "<div><p>" + escaped(report.heading) + "</p><table><thead><tr>";
  for (const ReportColumn& column : table.columns) html += "<th>" + escaped(column.title) + "</th>";
  html += "</tr></thead><tbody>";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row) html += "<td>" + escaped(cell) + "</td>";
    html += "</tr>";
  }
  return html + "</tbody></table></div>";
}

py::object to_pandas(const PythonReport& report) {
  py::dict columns;
  for (const ReportColumn* const column : named_columns(report)) {
    columns[text(column->name)] = column_of(report, column->name);
  }
  return py::module_::import("pandas").attr("DataFrame")(columns);
}

/// The definition of each column that has one, by its name.
py::dict formulas_of(const PythonReport& report) {
  py::dict formulas;
  for (const ReportColumn* const column : named_columns(report)) {
    if (column->formula.empty()) continue;
    formulas[text(column->name)] =
        text(column->formula + (column->unit.empty() ? "" : "; in " + column->unit));
  }
  return formulas;
}

}  // namespace

void bind_reports(py::module_& module) {
  py::class_<PythonReport, std::shared_ptr<PythonReport>>(
      module, "Report",
      "A table that a command of attnscope prints. len() is its number of rows; report[3] is a row "
      "as a dict, report['head'] a column as a NumPy array (NaN where unknown) or a list; "
      "iterating "
      "gives the rows.")
      .def_property_readonly("columns", &column_names, "Names of the columns, as in JSON.")
      .def_property_readonly(
          "rows",
          [](const PythonReport& report) {
            py::list rows;
            for (std::size_t row = 0; row < report.table.rows; ++row) {
              rows.append(row_of(report, static_cast<std::int64_t>(row)));
            }
            return rows;
          },
          "All rows, each a dict; None where a value is unknown.")
      .def_property_readonly("formulas", &formulas_of,
                             "Exact definitions of columns, with units, by their names.")
      .def_readonly("parts", &PythonReport::parts, "Further tables of the same results, by name.")
      .def_property_readonly("heading",
                             [](const PythonReport& report) { return text(report.heading); })
      .def("__len__", [](const PythonReport& report) { return report.table.rows; })
      .def("__getitem__", &row_of)
      .def("__getitem__", &column_of)
      .def(
          "to_csv", [](const PythonReport& report) { return text(report_as_csv(report.table)); },
          "The table as the command line prints it with --csv.")
      .def(
          "to_json",
          [](const PythonReport& report) {
            return text(report_as_json(report.table)
                            .dump(-1, ' ', false, ordered_json::error_handler_t::replace));
          },
          "The rows as the command line prints them with --json: a list of objects.")
      .def(
          "to_markdown",
          [](const PythonReport& report) { return text(report_as_markdown(report.table)); },
          "The columns of the text as a table of Markdown.")
      .def("to_pandas", &to_pandas, "A pandas.DataFrame of all columns. Needs pandas.")
      .def("_repr_html_", [](const PythonReport& report) { return text(report_as_html(report)); })
      .def("__repr__", [](const PythonReport& report) { return text(report_in_words(report)); });
}

}  // namespace attnscope::python
