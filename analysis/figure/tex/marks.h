// Writes the marks of one panel as PGFPlots source.
#pragma once

#include <string>

#include "analysis/figure/tex/layout.h"

namespace attnscope {

/// Source between \begin{axis} and \end{axis} for the panel's marks other than cells, in order.
/// Lines are clipped to the axes' ranges, stacked bars are rectangles, and texts of points and
/// rules are placed with the least overlap.
[[nodiscard]] std::string tex_marks(const TexPanel& panel, double font_size_pt);

}  // namespace attnscope
