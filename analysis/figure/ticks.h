// Ticks that recipes choose themselves.
#pragma once

#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Round numbers from 0, and `end` itself, about five in all. end > 0.
[[nodiscard]] std::vector<Tick> ticks_up_to(double end);

}  // namespace attnscope
