#include "analysis/figure/clipping.h"

#include <algorithm>

#include "analysis/figure/colour_map.h"

namespace attnscope {

Clipping clipping_of(const Figure& figure, std::size_t colour_scale) {
  const ColourScale& scale = figure.colour_scales.at(colour_scale);
  // Values are float32; ends are rounded to float32, so that a value that an end was computed from
  // is not clipped.
  const auto high = static_cast<float>(scale.maximum);
  const auto low = static_cast<float>(scale.norm == ScaleNorm::logarithmic
                                          ? logarithmic_floor(scale.minimum, scale.maximum)
                                          : scale.minimum);
  Clipping clipping;
  for (const Panel& panel : figure.panels) {
    for (const Mark& mark : panel.marks) {
      const auto* map = std::get_if<HeatMap>(&mark);
      if (map == nullptr || map->colour_scale != colour_scale) continue;
      clipping.below |= std::any_of(map->values.begin(), map->values.end(),
                                    [low](float value) { return value < low; });
      clipping.above |= std::any_of(map->values.begin(), map->values.end(),
                                    [high](float value) { return value > high; });
    }
  }
  return clipping;
}

}  // namespace attnscope
