// The marks of one panel as PGFPlots source.
#pragma once

#include <string>

#include "analysis/figure/tex/layout.h"

namespace attnscope {

/// What stands between \begin{axis} and \end{axis} for the panel's marks that are no cells, in
/// order. Lines are cut at the axes' ranges, stacked bars are rectangles, and texts of points and
/// rules stand where they cover each other least.
[[nodiscard]] std::string tex_marks(const TexPanel& panel, double font_size_pt);

}  // namespace attnscope
