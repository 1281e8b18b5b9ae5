// Errors of the command-line parser in the words of the program's other errors.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/error.h"

namespace attnscope {

/// An Error(usage) that names what `program` did not understand: a mistyped command or option with
/// the nearest known one, an invalid value, or a missing argument. The remedy names the help.
[[nodiscard]] Error wrong_usage(const CLI::App& program, const CLI::ParseError& error);

/// An Error(usage) for `word`, an unknown command of `program`, with the command that takes it as
/// its first argument, otherwise the nearest known command.
[[nodiscard]] Error unknown_command(const CLI::App& program, const std::string& word);

/// Adds a remedy to an error about a MODEL of `command` that is a misplaced input or the name of a
/// model that is not on this machine.
void explain_model(const CLI::App& command, Error& error);

}  // namespace attnscope
