// Exceptions of libraries in the program's own words.
#pragma once

#include <exception>
#include <string>

#include "core/error.h"

namespace attnscope {

/// The problem that a library names, without its name of the error ("[json.exception.…]").
[[nodiscard]] std::string problem_of(const std::exception& failure);

/// `failure` itself where it is an Error. Else an Error in its place: of the file system with the
/// path (io), of a value in JSON (damaged), of memory or anything else (unsupported).
[[nodiscard]] Error as_error(const std::exception& failure);

}  // namespace attnscope
