// Which known name a mistyped one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attnscope {

/// The one of `known` that is nearest to `given`: the shortest that begins with it (three
/// characters or more), else the first with the fewest insertions, deletions, substitutions and
/// swaps of neighbours (optimal string alignment). Empty if none is nearer than about one change in
/// three characters.
///
///     nearest_name("specturm", names)  // "spectrum"
[[nodiscard]] std::string nearest_name(std::string_view given, std::span<const std::string> known);

}  // namespace attnscope
