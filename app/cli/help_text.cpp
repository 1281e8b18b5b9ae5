#include "app/cli/help_text.h"

#include <algorithm>
#include <sstream>

#include "app/cli/command_table.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kTextColumn = 26;

std::string left_of(const OptionRow& row) {
  std::string left;
  for (const std::string& name : row.names) left += (left.empty() ? "" : ", ") + name;
  if (!row.value.empty() && row.names.front().starts_with("-")) left += " " + row.value;
  if (row.many) left += "…";
  return left;
}

void add_help_row(std::string& out, const std::string& left, const std::string& text) {
  out += "  " + left;
  std::size_t column = 2 + columns_of(left);
  if (column + 2 > kTextColumn) {
    out += "\n";
    column = 0;
  }
  out += std::string(kTextColumn - column, ' ');
  out += wrapped(text, kWidth, kTextColumn, kTextColumn) + "\n";
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent,
                    std::size_t column) {
  std::istringstream words(text);
  std::string out;
  bool first = true;
  for (std::string word; words >> word; first = false) {
    const std::size_t length = columns_of(word);
    if (!first && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += " ";
      ++column;
    }
    out += word;
    column += length;
  }
  return out;
}

std::string HelpText::make_help(const CLI::App* command, std::string, CLI::AppFormatMode) const {
  const CommandTable table = command_table(*command);
  std::string out = wrapped(table.summary, kWidth, 0, 0) + "\n";
  if (!table.details.empty()) out += "\n" + wrapped(table.details, kWidth, 0, 0) + "\n";
  out += "\nUsage: " + usage_of(table) + "\n";
  if (!table.arguments.empty()) out += "\nArguments:\n";
  for (const OptionRow& row : table.arguments) add_help_row(out, left_of(row), row.text);
  std::string heading;
  for (const CommandTable& subcommand : table.subcommands) {
    if (subcommand.group != heading) out += "\n" + subcommand.group + ":\n";
    heading = subcommand.group;
    add_help_row(out, subcommand.name.substr(table.name.size() + 1), subcommand.summary);
  }
  for (const OptionGroup& group : table.groups) {
    out += "\n" + group.title + ":\n";
    for (const OptionRow& row : group.rows) {
      add_help_row(out, left_of(row), row.text + (row.required ? " (required)" : ""));
    }
  }
  if (!table.examples.empty()) out += "\nExamples:\n";
  for (const std::string& example : table.examples) out += "  " + example + "\n";
  return out;
}

}  // namespace attnscope
