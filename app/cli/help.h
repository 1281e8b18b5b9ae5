// The output of --help and --version.
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

/// "attnscope 0.1.0"; with `verbose` also the compiler, the libraries, OpenBLAS's kernels, the
/// instruction sets of our own kernels and the number of threads, as lines or, with `json`, as
/// JSON.
[[nodiscard]] std::string version_text(bool verbose, bool json);

}  // namespace attnscope
