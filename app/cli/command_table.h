// The options and arguments of a subcommand as rows, from which help, man page and completion are
// written.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace attnscope {

/// One option or argument.
struct OptionRow {
  std::vector<std::string> names;  ///< "--out", "-h"; for an argument, its placeholder: "MODEL"
  std::string value;               ///< "FILE", "as-is|without|with"; empty for a flag
  std::string text;                ///< help text in one paragraph, with the default
  bool required = false;
  bool many = false;  ///< true for an argument that may be repeated
};

struct OptionGroup {
  std::string title;
  std::vector<OptionRow> rows;
};

struct CommandTable {
  std::string name;     ///< "attnscope spectrum"
  std::string summary;  ///< one line of at most 54 characters, which fits into the list of --help
  std::string details;  ///< further sentences; may be empty
  std::string group;    ///< heading in the list of --help: "Measure attention"
  std::vector<OptionRow> arguments;
  std::vector<OptionGroup> groups;        ///< hidden options are left out
  std::vector<std::string> examples;      ///< command lines, ready to type
  std::vector<CommandTable> subcommands;  ///< only for the program itself
};

/// The first line of the description of `command` is its summary, the rest its details.
[[nodiscard]] CommandTable command_table(const CLI::App& command);

/// The usage line: "attnscope spectrum [OPTION…] MODEL".
[[nodiscard]] std::string usage_of(const CommandTable& table);

/// Adds an option whose help shows `type` for its value, and the default, which `value` holds.
template <class Value>
CLI::Option* add_value_option(CLI::App& command, const std::string& flag, Value& value,
                              const std::string& text, const std::string& type) {
  return command.add_option(flag, value, text)->type_name(type)->capture_default_str();
}

/// Sets the command lines that the help of `command` shows, one per line.
void set_examples(CLI::App& command, const std::vector<std::string>& examples);

/// The known values of an option or argument: the words of "as-is|without|with", names of
/// mechanisms for MECHANISM, of figures for FIGURE, and so on. Other values are valid too if a
/// placeholder without names is among its kinds: "FIGURE|FILE".
[[nodiscard]] std::vector<std::string> known_values(const OptionRow& row);

/// True if the value may be a file or folder.
[[nodiscard]] bool takes_file(const OptionRow& row);

}  // namespace attnscope
