// Determines whether values lie beyond the ends of a colour scale.
#pragma once

#include <cstddef>

#include "analysis/figure/figure.h"

namespace attnscope {

struct Clipping {
  bool below = false, above = false;

  bool operator==(const Clipping&) const = default;
};

/// True below or above if heat maps that share the scale hold values beyond that end, which have
/// the colour of the end. On a logarithmic scale, all values under logarithmic_floor are below. NaN
/// is ignored.
[[nodiscard]] Clipping clipping_of(const Figure& figure, std::size_t colour_scale);

}  // namespace attnscope
