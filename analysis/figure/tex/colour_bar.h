// Colour bars: a shading, its ticks, its label, and arrowheads where values lie beyond its ends.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/tex/layout.h"

namespace attnscope {

/// The scale's colours at even fractions of its range, 0 to 1.
[[nodiscard]] std::vector<std::pair<double, Colour>> colour_stops(const ColourScale& scale);

/// The bar of the figure's scale of this index.
[[nodiscard]] std::string tex_bar(const Figure& figure, std::size_t colour_scale,
                                  const TexBox& frame);

}  // namespace attnscope
