// JSON on standard output, the same way in every command (docs/json-output.md).
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

namespace attnscope {

/// --json.
CLI::Option* add_json_flag(CLI::App& command, bool& json);

/// Indented by two, with a newline; bytes that are no UTF-8 become U+FFFD.
void print_json(const nlohmann::ordered_json& json);

}  // namespace attnscope
