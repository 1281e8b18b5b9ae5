// Figures that are the frames of an animation.
#pragma once

#include <span>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Makes figures with heat maps comparable: all get the same colour scales, which span those of all
/// figures, and the same height. Throws Error(usage) for figures without a colour scale, and for
/// figures that differ in the number of panels or scales.
void make_alike(std::span<Figure> figures);

}  // namespace attnscope
