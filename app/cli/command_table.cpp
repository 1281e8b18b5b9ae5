#include "app/cli/command_table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "analysis/figure/colour_map.h"
#include "analysis/figure/recipe.h"
#include "analysis/weights/weight_analysis.h"
#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

/// Placeholders whose values are not files.
constexpr std::array<std::string_view, 14> free_values = {
    "N",    "N,…",    "T",     "SECONDS",      "PT",  "MM",   "KEY=VALUE",
    "NAME", "NAME,…", "WORDS", "WIDTHxHEIGHT", "DPI", "LIST", "COMMAND"};

OptionRow row_of(const CLI::Option& option) {
  OptionRow row;
  if (option.get_positional()) {
    row.names = {option.get_name(true, false)};
  } else {
    for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  }
  if (option.get_type_size() != 0 || option.get_expected_max() > 0) {
    // CLI11 appends the expected range: "N:NONNEGATIVE".
    const std::string type = option.get_type_name();
    row.value = type.substr(0, type.find(':'));
  }
  row.text = option.get_description();
  const std::string& otherwise = option.get_default_str();
  if (!otherwise.empty()) row.text += " (" + otherwise + ")";
  row.required = option.get_required();
  row.many = option.get_positional() && option.get_expected_max() > 1;
  return row;
}

template <class Names, class NameOf>
std::vector<std::string> names_of(const Names& entries, NameOf name_of) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(std::invoke(name_of, entry));
  return names;
}

/// The parts of "as-is|without|with" or "FIGURE|FILE": words, or placeholders in capitals. Empty
/// for a flag.
std::vector<std::string> kinds_of(const OptionRow& row) {
  std::vector<std::string> kinds;
  if (row.value.empty() && row.names.front().starts_with("-")) return kinds;
  std::istringstream stream(row.value.empty() ? row.names.front() : row.value);
  for (std::string kind; std::getline(stream, kind, '|');) kinds.push_back(kind);
  return kinds;
}

/// The known values of a kind: names for some placeholders, a word itself.
std::vector<std::string> values_of(const std::string& kind) {
  if (kind == "MECHANISM") return names_of(mechanisms(), &MechanismEntry::name);
  if (kind == "FIGURE") return names_of(figure_recipes(), &FigureRecipe::name);
  if (kind == "COLOURS") return names_of(colour_maps(), &ColourMap::name);
  if (kind == "WEIGHTS") return names_of(weight_analysis_names);
  if (std::isupper(static_cast<unsigned char>(kind.front())) != 0) return {};
  return {kind};
}

}  // namespace

void set_examples(CLI::App& command, const std::vector<std::string>& examples) {
  std::string lines;
  for (const std::string& example : examples) lines += example + "\n";
  command.footer(lines);
}

CommandTable command_table(const CLI::App& command) {
  CommandTable table;
  const CLI::App* const parent = command.get_parent();
  table.name = (parent ? parent->get_name() + " " : std::string()) + command.get_name();
  const std::string text = command.get_description();
  const std::size_t end = std::min(text.find('\n'), text.size());
  table.summary = text.substr(0, end);
  table.details = text.substr(std::min(end + 1, text.size()));
  if (parent) table.group = command.get_group();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    if (option->get_positional()) {
      table.arguments.push_back(row_of(*option));
      if (!option->nonpositional()) continue;
    }
    const bool is_help = option == command.get_help_ptr() || option == command.get_version_ptr();
    const std::string title = is_help ? "Help" : option->get_group();
    auto group = std::find_if(table.groups.begin(), table.groups.end(),
                              [&](const OptionGroup& known) { return known.title == title; });
    if (group == table.groups.end()) {
      table.groups.push_back({title, {}});
      group = std::prev(table.groups.end());
    }
    group->rows.push_back(row_of(*option));
  }
  // The group that every command has comes last.
  const auto other = std::find_if(table.groups.begin(), table.groups.end(),
                                  [](const OptionGroup& g) { return g.title == "Help"; });
  if (other != table.groups.end()) std::rotate(other, other + 1, table.groups.end());
  std::istringstream examples(command.get_footer());
  for (std::string line; std::getline(examples, line);) table.examples.push_back(line);
  for (const CLI::App* subcommand : command.get_subcommands({})) {
    table.subcommands.push_back(command_table(*subcommand));
  }
  return table;
}

std::string usage_of(const CommandTable& table) {
  std::string usage = table.name;
  if (!table.groups.empty()) usage += " [OPTION…]";
  for (const OptionRow& argument : table.arguments) {
    const std::string words = argument.names.front() + (argument.many ? "…" : "");
    usage += argument.required ? " " + words : " [" + words + "]";
  }
  if (!table.subcommands.empty()) usage += " [COMMAND]";
  return usage;
}

std::vector<std::string> known_values(const OptionRow& row) {
  std::vector<std::string> known;
  for (const std::string& kind : kinds_of(row)) {
    for (std::string& value : values_of(kind)) known.push_back(std::move(value));
  }
  return known;
}

bool takes_file(const OptionRow& row) {
  return std::ranges::any_of(kinds_of(row), [](const std::string& kind) {
    return values_of(kind).empty() && std::ranges::find(free_values, kind) == free_values.end();
  });
}

}  // namespace attnscope
