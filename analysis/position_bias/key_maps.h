// DAFT's keys as feature maps: exp(K) of each channel over the image (DAFT, Fig. 11 to 14).
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

struct KeyMap {
  std::int64_t layer = 0, channel = 0;
  std::int64_t channels = 1;  ///< number of key channels: D, or one per bias head
  std::int64_t rows = 0, columns = 0;
  /// exp(K) over its greatest value on the grid, rows × columns, 0 to 1: a factor per channel
  /// cancels in DAFT's quotient, so the absolute scale has no meaning. Prefix tokens are left out.
  std::vector<float> values;
};

/// True if the trace recorded DAFT's keys, of tokens on a grid over an image.
[[nodiscard]] bool has_key_maps(const Trace& trace);

/// Number of key channels of the layer; 0 if it recorded none.
[[nodiscard]] std::int64_t key_channels(const Trace& trace, std::int64_t layer);

/// Key map of one channel. Throws Error(usage) if keys were not recorded, the channel does not
/// exist or the tokens form no grid.
[[nodiscard]] KeyMap key_map(const Trace& trace, std::int64_t layer, std::int64_t channel);

}  // namespace attnscope
