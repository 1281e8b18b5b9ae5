// Converts exceptions of libraries into Errors.
#pragma once

#include <exception>
#include <string>

#include "core/error.h"

namespace attnscope {

/// The message of a library's exception without its error name ("[json.exception.…]").
[[nodiscard]] std::string problem_of(const std::exception& failure);

/// `failure` as an Error. Other exceptions are converted: file system errors with the path (io),
/// JSON errors (damaged), memory and all others (unsupported).
[[nodiscard]] Error as_error(const std::exception& failure);

}  // namespace attnscope
