// What a figure of the open subjects is asked for.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/figure/recipe.h"

namespace attnscope {

class Session;

/// " (4 of 12 layers)": what the name of a subject ends with, of which no more is known so far.
[[nodiscard]] std::string of_layers(std::int64_t known, std::int64_t all);

/// Every subject that has a trace, with the files the figure's command line names.
[[nodiscard]] FigureRequest request_of(const Session& session);

/// The same of one subject alone that `shows` something: the selected one, else the first; of none
/// if there is none.
[[nodiscard]] FigureRequest request_of_selected(const Session& session,
                                                bool (*shows)(const Trace&));

}  // namespace attnscope
