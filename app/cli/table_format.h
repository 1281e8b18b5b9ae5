// The formats in which commands print their tables: --format, and --json and --csv in short.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "analysis/report/report.h"
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

}  // namespace attnscope
