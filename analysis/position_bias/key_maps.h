// DAFT's keys as feature maps: exp(K) of each channel over the image (DAFT, Fig. 11 to 14).
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

struct KeyMap {
  std::int64_t layer = 0, channel = 0;
  std::int64_t channels = 1;  ///< of the layer's keys: D, or one for each head of biases
  std::int64_t rows = 0, columns = 0;
  /// exp(K) over its largest on the grid, rows × columns, 0 to 1. A factor for each channel cancels
  /// in DAFT's quotient, so that more cannot be said. Prefix tokens are left out.
  std::vector<float> values;
};

/// Whether a trace recorded DAFT's keys.
[[nodiscard]] bool has_key_maps(const Trace& trace);

/// Key channels of the layer; 0 if it recorded none.
[[nodiscard]] std::int64_t key_channels(const Trace& trace, std::int64_t layer);

/// Throws Error(usage): not recorded, no such channel, tokens that form no grid.
[[nodiscard]] KeyMap key_map(const Trace& trace, std::int64_t layer, std::int64_t channel);

}  // namespace attnscope
