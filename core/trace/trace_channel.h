// Describes which channel's maps a trace holds if each channel of a head has its own (DAFT).
#pragma once

#include <string>

#include "core/trace/trace.h"

namespace attnscope {

/// "channel 3 of 16" or "mean of 16 channels". Empty if each head has one map.
[[nodiscard]] std::string channel_in_words(const Trace& trace);

}  // namespace attnscope
