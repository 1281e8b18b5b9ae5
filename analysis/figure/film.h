// Figures that are shown one after another.
#pragma once

#include <span>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Each of these figures of maps gets the colour scales that span those of all, so that a colour
/// means the same number throughout, and the height of the highest. Throws Error(usage) for figures
/// without a colour scale, and for those whose panels or scales differ in number.
void make_alike(std::span<Figure> figures);

}  // namespace attnscope
