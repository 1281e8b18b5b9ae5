#include "core/trace/trace_channel.h"

namespace attnscope {

std::string channel_in_words(const Trace& trace) {
  if (trace.map_channels < 2) return {};
  const std::string count = std::to_string(trace.map_channels);
  return trace.map_channel ? "channel " + std::to_string(*trace.map_channel) + " of " + count
                           : "mean of " + count + " channels";
}

}  // namespace attnscope
