// --identity as-is|without|with|both: the same words in every command.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

/// as-is: the maps as the mechanism makes them; without: less an I they contain; with: plus I where
/// they contain none; both: without and with.
void add_identity_option(CLI::App& command, std::string& name);

/// "as-is|without|with|both"
[[nodiscard]] std::string identity_words();

/// The views that `name` asks for, in that order. Throws Error(usage) listing the names.
[[nodiscard]] std::vector<IdentityView> identity_views(const std::string& name);

/// "as-is", "without", "with".
[[nodiscard]] std::string name_of(IdentityView view);

}  // namespace attnscope
