// What a spectrum was, or would be, behind what it is: curves that a step leaves stay to be seen.
#pragma once

#include "analysis/figure/figure.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Of a cumulative spectrum with and without I: the curves that `view` does not show become faint.
/// Where it shows maps as they are, all stay.
void fade_other_view(Figure& figure, IdentityView view);

/// Lays the curves of `before` behind `figure`, faint and dotted: those of subjects whose name ends
/// with kAsItIs.
void add_ghosts(Figure& figure, const Figure& before);

/// What ends the name of a subject as it runs by itself, beside one whose maps are changed.
inline constexpr const char* kAsItIs = " as it is";

}  // namespace attnscope
