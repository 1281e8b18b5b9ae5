// Whose maps a trace holds, where each channel of a head has its own (DAFT).
#pragma once

#include <string>

#include "core/trace/trace.h"

namespace attnscope {

/// "channel 3 of 16", "mean of 16 channels"; empty where each head has one map.
[[nodiscard]] std::string channel_in_words(const Trace& trace);

}  // namespace attnscope
