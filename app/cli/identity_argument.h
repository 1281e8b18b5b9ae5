// The option --identity as-is|without|with|both, equal in every command.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

/// as-is: the maps of the mechanism; without: minus an I that they contain; with: plus I unless
/// they contain it; both: without and with.
void add_identity_option(CLI::App& command, std::string& name);

/// The accepted values: "as-is|without|with|both".
[[nodiscard]] std::string identity_words();

/// The views that `name` selects, in that order. Throws Error(usage) with the list of names.
[[nodiscard]] std::vector<IdentityView> identity_views(const std::string& name);

}  // namespace attnscope
