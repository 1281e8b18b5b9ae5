// What a figure of the open subjects is asked for.
#pragma once

#include "analysis/figure/recipe.h"

namespace attnscope {

class Session;

/// Every subject that has a trace, with the files the figure's command line names.
[[nodiscard]] FigureRequest request_of(const Session& session);

}  // namespace attnscope
