// JSON on standard output, in the same form in every command (docs/json-output.md).
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

namespace attnscope {

/// Adds --json.
CLI::Option* add_json_flag(CLI::App& command, bool& json);

/// Prints JSON indented by two spaces, with a final newline; invalid UTF-8 becomes U+FFFD.
void print_json(const nlohmann::ordered_json& json);

}  // namespace attnscope
