#include "analysis/figure/heat_scale.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analysis/figure/colour_map.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

void set_range(ColourScale& scale, const std::string& text) {
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, scale.minimum);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ',') {
    const auto second = std::from_chars(first.ptr + 1, end, scale.maximum);
    if (second.ec == std::errc() && second.ptr == end && scale.minimum < scale.maximum &&
        std::isfinite(scale.minimum) && std::isfinite(scale.maximum)) {
      return;
    }
  }
  throw Error(ErrorKind::usage, "a setting of the figure cannot have this value")
      .about("range")
      .expected("auto, full, or LOW,HIGH such as 0,0.1")
      .found("'" + text + "'");
}

}  // namespace

HeatScale heat_scale(const Settings& settings, std::vector<float> values,
                     const std::string& label) {
  constexpr ScaleNorm norms[] = {ScaleNorm::linear, ScaleNorm::logarithmic,
                                 ScaleNorm::symmetric_logarithmic};
  HeatScale result;
  ColourScale& scale = result.scale;
  scale.label = label;
  const ColourMap& map = find_colour_map(settings.text("colour-map"));
  scale.colour_map = map.name;
  scale.norm = norms[settings.choice("norm", {"linear", "log", "symlog"})];

  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  if (values.empty()) values.push_back(0);
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const double low = *least;
  const double high = *greatest;
  const std::string& range = settings.text("range");
  if (range == "auto" || range == "full") {
    scale.minimum = std::min(low, 0.0);
    scale.maximum = high;
    if (range == "auto") {
      const auto nth = values.begin() +
                       static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * 0.995);
      std::nth_element(values.begin(), nth, values.end());
      if (static_cast<double>(*nth) > scale.minimum) scale.maximum = static_cast<double>(*nth);
    }
    if (map.diverging) {
      scale.maximum = std::max(std::abs(scale.minimum), std::abs(scale.maximum));
      scale.minimum = -scale.maximum;
    }
    if (!(scale.maximum > scale.minimum)) scale.maximum = scale.minimum + 1;
  } else {
    set_range(scale, range);
  }
  result.clipped = high > scale.maximum || low < scale.minimum;
  return result;
}

std::string clipping_in_words(const HeatScale& scale) {
  if (!scale.clipped) return {};
  return "Values outside " + rounded_text(scale.scale.minimum, 3) + " to " +
         rounded_text(scale.scale.maximum, 3) + " have the colour of the nearest end. ";
}

}  // namespace attnscope
