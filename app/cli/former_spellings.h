// Options under the names they had before: still taken, no longer shown, each with one line of
// advice on stderr.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace attnscope {

/// One line on stderr: "attnscope: --model is spelled MODEL after the figure's name now".
void advise(const std::string& former, const std::string& now);

/// `former` ("--model") still sets `value`; `now` says what is written instead.
void add_former_option(CLI::App& command, const std::string& former, std::string& value,
                       const std::string& now);
void add_former_option(CLI::App& command, const std::string& former, double& value,
                       const std::string& now);
/// The same, each time it is given one more of `values`.
void add_former_option(CLI::App& command, const std::string& former,
                       std::vector<std::string>& values, const std::string& now);
void add_former_flag(CLI::App& command, const std::string& former, bool& value,
                     const std::string& now);

/// The arguments after the program's name with what had another form before rewritten: `spectrum
/// --identity` without a view of the identity meant "with".
[[nodiscard]] std::vector<std::string> with_present_spellings(std::vector<std::string> arguments);

}  // namespace attnscope
