// What could not be parsed, in the words of the program's other errors.
#pragma once

#include <CLI/CLI.hpp>

#include "core/error.h"

namespace attnscope {

/// An Error(usage) that names what `program` did not understand: a mistyped command or option with
/// the nearest known one, a value that is none, what is missing; and the help that says more.
[[nodiscard]] Error wrong_usage(const CLI::App& program, const CLI::ParseError& error);

}  // namespace attnscope
