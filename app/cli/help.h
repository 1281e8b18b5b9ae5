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

/// "attnscope 0.1.0"; with `verbose` also the compiler, the libraries, OpenBLAS's kernels, the
/// instruction sets of our own kernels and the number of threads, as lines or, with `json`, as
/// JSON.
[[nodiscard]] std::string version_text(bool verbose, bool json);

}  // namespace attnscope
