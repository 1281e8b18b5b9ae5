// Exclusive access to computed maps, which are not stored.
#pragma once

#include <functional>

#include "core/trace/trace.h"

namespace attnscope {

/// True if some maps are computed on access (ImpliedMaps::are_computed).
[[nodiscard]] bool has_computed_maps(const Trace& trace);
/// Calls `look` while no other thread uses a computed map: they are so large that only one may be
/// in memory. `look` may use all cores.
void take_turn_at_computed_map(const std::function<void()>& look);

}  // namespace attnscope
