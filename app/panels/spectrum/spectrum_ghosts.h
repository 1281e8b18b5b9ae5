// Faint curves behind a spectrum that show it before a change, or with the other setting of I.
#pragma once

#include "analysis/figure/figure.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Fades the curves of a cumulative spectrum with and without I that `view` does not show. With
/// IdentityView::as_is all stay.
void fade_other_view(Figure& figure, IdentityView view);

/// Lays the curves of `before` behind `figure`, faint and dotted, for models whose name contains
/// kAsItIs.
void add_ghosts(Figure& figure, const Figure& before);

/// Suffix of the name of an unchanged model next to one whose maps are changed.
inline constexpr const char* kAsItIs = " as it is";

}  // namespace attnscope
