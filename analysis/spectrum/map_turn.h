// Maps that are held nowhere are looked at one at a time.
#pragma once

#include <functional>

#include "core/trace/trace.h"

namespace attnscope {

/// Whether some maps are held nowhere (ImpliedMaps::are_computed).
[[nodiscard]] bool has_computed_maps(const Trace& trace);
/// Calls `look` at such a map when nobody else in the program looks at one: they are so large that
/// one is in memory at a time. All cores are its.
void take_turn_at_computed_map(const std::function<void()>& look);

}  // namespace attnscope
