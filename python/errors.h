// Errors as Python exceptions: the classes of attnscope/errors.py, with the words of the command
// line.
#pragma once

#include <string_view>

#include "python/bindings.h"

namespace attnscope::python {

/// Translates Error into attnscope.Error or one of its subclasses, and Cancelled into
/// KeyboardInterrupt.
void translate_errors();

/// A str of UTF-8 in which bytes that are not valid, as in names of files, are replaced.
[[nodiscard]] py::str text(std::string_view utf8);

}  // namespace attnscope::python
