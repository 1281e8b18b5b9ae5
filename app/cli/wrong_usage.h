// What could not be parsed, in the words of the program's other errors.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/error.h"

namespace attnscope {

/// An Error(usage) that names what `program` did not understand: a mistyped command or option with
/// the nearest known one, a value that is none, what is missing; and the help that says more.
[[nodiscard]] Error wrong_usage(const CLI::App& program, const CLI::ParseError& error);

/// An Error(usage) for `word`, which is no command of `program`, with the nearest one.
[[nodiscard]] Error unknown_command(const CLI::App& program, const std::string& word);

/// Adds to an error about a MODEL of `command` what to do, where it is an input in the wrong place
/// or the name of a model that is not on this machine.
void explain_model(const CLI::App& command, Error& error);

}  // namespace attnscope
