// What a figure of the open subjects is asked for.
#pragma once

#include "analysis/figure/recipe.h"

namespace attnscope {

class Session;

/// Every subject that has a trace, with the files the figure's command line names.
[[nodiscard]] FigureRequest request_of(const Session& session);

/// The same of one subject alone that `shows` something: the selected one, else the first; of none
/// if there is none.
[[nodiscard]] FigureRequest request_of_selected(const Session& session,
                                                bool (*shows)(const Trace&));

}  // namespace attnscope
