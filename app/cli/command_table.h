// What a subcommand takes, as rows: help, man page and completion are all written from these.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace attnscope {

/// One option or argument.
struct OptionRow {
  std::vector<std::string> names;  ///< "--out", "-h"; an argument's own: "MODEL"
  std::string value;               ///< "FILE", "as-is|without|with"; empty for a flag
  std::string text;                ///< what it is, in one paragraph, with its default
  bool required = false;
  bool many = false;  ///< an argument that may be given several times
};

struct OptionGroup {
  std::string title;
  std::vector<OptionRow> rows;
};

struct CommandTable {
  std::string name;     ///< "attnscope spectrum"
  std::string summary;  ///< one line
  std::vector<OptionRow> arguments;
  std::vector<OptionGroup> groups;        ///< without what is hidden
  std::vector<std::string> examples;      ///< command lines, ready to be typed
  std::vector<CommandTable> subcommands;  ///< of the program itself
};

[[nodiscard]] CommandTable command_table(const CLI::App& command);

/// "attnscope spectrum [OPTION…] MODEL".
[[nodiscard]] std::string usage_of(const CommandTable& table);

/// The command lines that help shows for `command`, one a line.
void set_examples(CLI::App& command, const std::vector<std::string>& examples);

/// The values that may follow: the words of "as-is|without|with", names of mechanisms for
/// MECHANISM, of figures for FIGURE; empty where it is free.
[[nodiscard]] std::vector<std::string> known_values(const OptionRow& row);

/// Whether a file or folder may follow.
[[nodiscard]] bool takes_file(const OptionRow& row);

}  // namespace attnscope
