// The formats in which commands print their tables: --format, and --json and --csv in short.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "app/cli/status_line.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

enum class TableFormat { text, csv, json, markdown, latex };
inline constexpr EnumName<TableFormat> table_format_names[] = {{TableFormat::text, "text"},
                                                               {TableFormat::csv, "csv"},
                                                               {TableFormat::json, "json"},
                                                               {TableFormat::markdown, "markdown"},
                                                               {TableFormat::latex, "latex"}};

/// Adds the options, of which a command takes one. `rows` is what a line of CSV holds: "a row for
/// each head".
void add_format_options(CLI::App& command, TableFormat& format, const std::string& rows);

/// Prints the report as CSV, Markdown or LaTeX (a tabular with the rules of booktabs). If none of
/// its columns has a title, Markdown and LaTeX have the tables in its cells instead, each below the
/// texts and indices before it in its row.
void print_report(const Report& report, TableFormat format);

/// Prints the results of a command in one of the formats. The status of the models stands below
/// text, is in the JSON itself, and goes to standard error for the other formats.
void print_results(TableFormat format, const std::vector<Subject>& subjects,
                   const std::function<std::string()>& text,
                   const std::function<nlohmann::ordered_json()>& json,
                   const std::function<Report()>& report);

/// The columns of the model that the member `subject` of a row points to: its label, "model" in CSV
/// and `label` in JSON, and its status in JSON.
template <class Row>
[[nodiscard]] std::vector<ColumnOf<Row>> model_columns(const char* label = "model") {
  const auto name = [](const Row& row) { return row.subject->label; };
  return {{csv_only("model"), name},
          {json_only(label), name},
          {json_only("status"),
           [](const Row& row) { return json_cell(status_as_json(status_of(*row.subject))); }}};
}

}  // namespace attnscope
