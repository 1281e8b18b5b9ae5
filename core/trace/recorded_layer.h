// A layer of a trace by its number, from outside.
#pragma once

#include <cstdint>

#include "core/trace/trace.h"

namespace attnscope {

/// Throws Error(usage) where there is no such layer.
[[nodiscard]] const LayerTrace& recorded_layer(const Trace& trace, std::int64_t layer);

}  // namespace attnscope
