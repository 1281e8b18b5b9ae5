// Which ends of a colour scale stand for values beyond them.
#pragma once

#include <cstddef>

#include "analysis/figure/figure.h"

namespace attnscope {

struct Clipping {
  bool below = false, above = false;

  bool operator==(const Clipping&) const = default;
};

/// Whether heat maps that share the scale hold values below the first, above the last that it tells
/// apart: those have the colour of the nearest end. On a logarithmic scale everything under
/// logarithmic_floor is below. NaN is no value.
[[nodiscard]] Clipping clipping_of(const Figure& figure, std::size_t colour_scale);

}  // namespace attnscope
