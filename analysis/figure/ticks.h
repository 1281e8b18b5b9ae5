// Ticks that recipes choose themselves.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Round numbers from 0, and `end` itself, about five in all. end > 0.
[[nodiscard]] std::vector<Tick> ticks_up_to(double end);

/// Fifths from 0 to 1.
[[nodiscard]] std::vector<Tick> share_ticks();

/// A tick a layer, numbered from `first` on, at most about eight of them.
[[nodiscard]] std::vector<Tick> layer_ticks(std::int64_t layers, std::int64_t first = 0);

}  // namespace attnscope
