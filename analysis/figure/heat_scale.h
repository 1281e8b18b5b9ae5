// The colour scale shared by compared heat maps, of one figure or of the frames of an animation.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "analysis/figure/figure.h"
#include "analysis/figure/settings.h"

namespace attnscope {

/// Settings of figures with heat maps.
[[nodiscard]] ParameterDescription colour_map_setting(std::string_view otherwise = "viridis");
[[nodiscard]] ParameterDescription norm_setting(ScaleNorm otherwise = ScaleNorm::linear);
/// The range of the colours: "auto" (up to the value that one cell in 200 exceeds), "full", or the
/// least and the greatest value.
[[nodiscard]] ParameterDescription range_setting(std::string otherwise = "auto");
/// The range setting with two values as the default.
[[nodiscard]] ParameterDescription range_setting(double least, double greatest);

struct HeatScale {
  ColourScale scale;
  bool clipped = false;  ///< true if a shown value is outside the range
};

/// The scale for the settings colour-map, norm and range, over all values shown. NaN and Inf are
/// ignored. With a diverging colour map an automatic range is symmetric about 0, but does not go
/// below `least_possible`, the least value of the quantity. Throws Error(usage).
[[nodiscard]] HeatScale heat_scale(
    const Settings& settings, std::vector<float> values, const std::string& label,
    double least_possible = -std::numeric_limits<double>::infinity());

/// Sentence for the caption, "Values outside 0 to 0.031 have the colour of the nearest end. ";
/// empty if none was clipped.
[[nodiscard]] std::string clipping_in_words(const HeatScale& scale);

/// Makes figures with heat maps comparable: all get the same colour scales, which span those of all
/// figures, and the same height. Throws Error(usage) for figures without a colour scale, and for
/// figures that differ in the number of panels or scales.
void make_alike(std::span<Figure> figures);

}  // namespace attnscope
