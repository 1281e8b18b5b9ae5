// A figure as bytes, by which another process draws it: the Python package makes figures and has no
// Qt, the program draws them (`attnscope figure -`).
#pragma once

#include <string>
#include <string_view>

#include "analysis/figure/figure.h"

namespace attnscope {

/// The whole figure: a line with a sign and the program's version, then numbers in the byte order
/// of the machine. Not a format to keep: figure_of_bytes of the same version reads it.
[[nodiscard]] std::string figure_as_bytes(Figure figure);

/// True if `bytes` begin with the sign of figure_as_bytes, of any version.
[[nodiscard]] bool holds_figure(std::string_view bytes);

/// The figure of these bytes. Throws Error(unsupported) for those of another version, and
/// Error(damaged) for bytes that figure_as_bytes does not make: it checks every size, choice and
/// index before anything is drawn.
[[nodiscard]] Figure figure_of_bytes(std::string_view bytes);

}  // namespace attnscope
