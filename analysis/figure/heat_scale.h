// The colour scale that compared maps share.
#pragma once

#include <span>
#include <vector>

#include "analysis/figure/settings.h"

namespace attnscope {

/// Settings of figures with heat maps, to stand in their lists.
inline constexpr FigureSetting colour_map_setting = {"colour-map", "viridis",
                                                     "viridis, magma, cividis, grey or diverging"};
inline constexpr FigureSetting norm_setting = {"norm", "linear", "linear, log or symlog"};
inline constexpr FigureSetting range_setting = {
    "range", "auto",
    "auto (to the value that one cell in 200 exceeds), full, or LOW,HIGH such as 0,0.1"};

struct HeatScale {
  ColourScale scale;
  bool clipped = false;  ///< whether some shown value lies outside
};

/// The scale that the settings colour-map, norm and range ask for, over all values shown. NaN and
/// Inf count for nothing. Throws Error(usage).
[[nodiscard]] HeatScale heat_scale(const Settings& settings, std::vector<float> values,
                                   const std::string& label);

/// "Values above 0.031 are drawn as 0.031. ", or nothing if none was clipped.
[[nodiscard]] std::string clipping_in_words(const HeatScale& scale);

}  // namespace attnscope
