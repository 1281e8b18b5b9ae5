// Layout of --help: aligned, wrapped, with examples.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace attnscope {

/// Formats a command's table (command_table.h) for a terminal of 80 columns.
class HelpText : public CLI::Formatter {
 public:
  [[nodiscard]] std::string make_help(const CLI::App* command, std::string name,
                                      CLI::AppFormatMode mode) const override;
};

/// `text` in lines of at most `width` characters, broken at spaces. Lines after the first are
/// indented by `indent` spaces; the first line starts at column `column`.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width, std::size_t indent,
                                  std::size_t column);

}  // namespace attnscope
