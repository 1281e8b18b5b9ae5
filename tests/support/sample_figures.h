// Every figure of the program, made from something small: what is compared with references.
#pragma once

#include <string>

#include "analysis/figure/figure.h"
#include "core/parameters/parameters.h"

namespace attnscope {

/// The figure of that recipe, deterministic: of made-up attention, of the sample models, of a sweep
/// over 24 small images, or of fixed measurements, as the recipe needs. Figures of counts show
/// their default networks.
[[nodiscard]] Figure sample_figure(const std::string& recipe, ParameterValues settings = {},
                                   double width_mm = 84);

}  // namespace attnscope
