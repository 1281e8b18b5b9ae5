// Colour bars in TikZ: a shading, its ticks, its label, and arrowheads for values beyond its ends.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/tex/layout.h"

namespace attnscope {

/// The scale's colours at even fractions of its range, 0 to 1.
[[nodiscard]] std::vector<std::pair<double, Colour>> colour_stops(const ColourScale& scale);

[[nodiscard]] std::string tex_bar(const Figure& figure, const TexBar& bar);

}  // namespace attnscope
