// Checked access to a layer of a trace by its number.
#pragma once

#include <cstdint>

#include "core/trace/trace.h"

namespace attnscope {

/// Throws Error(usage) if `layer` is out of range.
[[nodiscard]] const LayerTrace& recorded_layer(const Trace& trace, std::int64_t layer);

}  // namespace attnscope
