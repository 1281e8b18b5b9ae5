// The colour scale that compared maps share.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "analysis/figure/settings.h"

namespace attnscope {

/// Settings of figures with heat maps, to stand in their lists.
[[nodiscard]] ParameterDescription colour_map_setting(std::string_view otherwise = "viridis");
[[nodiscard]] ParameterDescription norm_setting(ScaleNorm otherwise = ScaleNorm::linear);
/// "auto" (to the value that one cell in 200 exceeds), "full", or the least and the greatest value.
[[nodiscard]] ParameterDescription range_setting(std::string otherwise = "auto");
/// The same with the two values themselves as the default.
[[nodiscard]] ParameterDescription range_setting(double least, double greatest);

struct HeatScale {
  ColourScale scale;
  bool clipped = false;  ///< whether some shown value lies outside
};

/// The scale that the settings colour-map, norm and range ask for, over all values shown. NaN and
/// Inf count for nothing. Of diverging colours the range found reaches as far below 0 as above it,
/// but not below `least_possible`: the least value the quantity can have. Throws Error(usage).
[[nodiscard]] HeatScale heat_scale(
    const Settings& settings, std::vector<float> values, const std::string& label,
    double least_possible = -std::numeric_limits<double>::infinity());

/// "Values above 0.031 are drawn as 0.031. ", or nothing if none was clipped.
[[nodiscard]] std::string clipping_in_words(const HeatScale& scale);

}  // namespace attnscope
