// Suggests the known name that a mistyped one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attnscope {

/// The name in `known` nearest to `given`: the shortest that begins with `given` (of at least three
/// characters), else the first with the fewest insertions, deletions, substitutions and swaps of
/// neighbours (optimal string alignment). Empty if all need more than about one change per three
/// characters.
///
///     nearest_name("specturm", names)  // "spectrum"
[[nodiscard]] std::string nearest_name(std::string_view given, std::span<const std::string> known);

}  // namespace attnscope
