// Every figure of the program, made from small data for comparison with references.
#pragma once

#include <string>

#include "analysis/figure/figure.h"
#include "core/parameters/parameters.h"

namespace attnscope {

/// The figure of that recipe, which is deterministic. It shows made-up attention, the sample
/// models, a sweep over 24 small images or fixed measurements, as the recipe requires. Figures of
/// counts show their default networks.
[[nodiscard]] Figure sample_figure(const std::string& recipe, ParameterValues settings = {},
                                   double width_mm = 84);

}  // namespace attnscope
