#include "app/cli/table_format.h"

#include "analysis/figure/table.h"
#include "app/cli/standard_streams.h"
#include "core/shown_text.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

void print_titled(const Report& report, TableFormat format) {
  write_to_standard_output(format == TableFormat::latex ? table_as_tex(table_of(report))
                                                        : report_as_markdown(report));
}

}  // namespace

void add_format_options(CLI::App& command, TableFormat& format, const std::string& rows) {
  CLI::Option* const json = command.add_flag_callback(
      "--json", [&format] { format = TableFormat::json; },
      "Write JSON (described in docs/json-output.md)");
  CLI::Option* const csv = command.add_flag_callback(
      "--csv", [&format] { format = TableFormat::csv; }, "Write CSV, " + rows);
  CLI::Option* const named = command
                                 .add_option_function<std::string>(
                                     "--format",
                                     [&format](const std::string& name) {
                                       format =
                                           value_of(table_format_names, name, "format of tables");
                                     },
                                     "Format of the tables")
                                 ->check(CLI::IsMember(names_of(table_format_names)))
                                 ->type_name(name_list(names_of(table_format_names), {}, "|"))
                                 ->default_str("text");
  json->excludes(csv)->excludes(named);
  csv->excludes(named);
}

void print_report(const Report& report, TableFormat format) {
  if (format == TableFormat::csv) return write_to_standard_output(report_as_csv(report));
  if (has_titles(report)) return print_titled(report, format);
  const bool latex = format == TableFormat::latex;
  for (std::size_t row = 0; row < report.rows; ++row) {
    std::string caption;
    for (const ReportColumn& column : report.columns) {
      if (!column.csv || column.name.empty()) continue;
      const ReportValue value = column.value(row);
      const auto* const table = std::get_if<std::shared_ptr<const Report>>(&value);
      if (table && has_titles(**table)) {
        write_to_standard_output((latex ? "% " : "### ") + caption + (latex ? "\n" : "\n\n"));
        print_titled(**table, format);
        write_to_standard_output("\n");
      } else if (const auto* const words = std::get_if<std::string>(&value)) {
        caption += (caption.empty() ? "" : ", ") + shown_text(*words);
      } else if (const auto* const index = std::get_if<std::int64_t>(&value)) {
        caption += (caption.empty() ? "" : ", ") + std::to_string(*index);
      }
    }
  }
}

void print_results(TableFormat format, const std::vector<Subject>& subjects,
                   const std::function<std::string()>& text,
                   const std::function<nlohmann::ordered_json()>& json,
                   const std::function<Report()>& report) {
  if (format == TableFormat::json) return print_json(json());
  const bool is_text = format == TableFormat::text;
  if (is_text) {
    write_to_standard_output(text());
  } else {
    print_report(report(), format);
  }
  print_status(is_text ? stdout : stderr, subjects);
}

}  // namespace attnscope
