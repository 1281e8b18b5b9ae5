// Completion scripts for shells, made from the command tables.
#pragma once

#include <string>

#include "app/cli/command_table.h"

namespace attnscope {

/// A script that completes commands, options and the known values of options. `shell`: bash, zsh or
/// fish. Throws Error(usage) for another shell.
[[nodiscard]] std::string completion_script(const std::string& shell, const CommandTable& program);

}  // namespace attnscope
