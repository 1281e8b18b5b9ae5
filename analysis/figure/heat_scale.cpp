#include "analysis/figure/heat_scale.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "analysis/figure/colour_map.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

void set_range(ColourScale& scale, const std::vector<double>& range) {
  if (range.size() != 2 || !(range[0] < range[1])) {
    throw Error(ErrorKind::usage, "the colour range is not valid")
        .about("range")
        .expected("auto, full, or LOW,HIGH such as 0,0.1")
        .found("'" + to_string(ParameterValue(range)) + "'");
  }
  scale.minimum = range[0];
  scale.maximum = range[1];
}

ParameterDescription range_description() {
  return setting::numbers("range", {0, 1}, {},
                          "range of the colour scale: up to the 99.5th percentile (auto), to the "
                          "greatest value (full), or LOW,HIGH")
      .or_word({"auto", "full"});
}

void require_alike(const Figure& figure, const char* parts, std::size_t expected,
                   std::size_t found) {
  if (found == expected) return;
  throw Error(ErrorKind::usage, "the frames of a film must have the same layout")
      .about(figure.title)
      .expected(std::to_string(expected) + parts)
      .found(std::to_string(found));
}

}  // namespace

ParameterDescription colour_map_setting(std::string_view otherwise) {
  std::vector<std::string> choices;
  for (const ColourMap& map : colour_maps()) choices.emplace_back(map.name);
  return setting::choice("colour-map", std::move(choices), otherwise, "the colours of heat maps");
}

ParameterDescription norm_setting(ScaleNorm otherwise) {
  return setting::choice("norm", names_of(scale_norm_names), name_of(scale_norm_names, otherwise),
                         "how values become colours");
}

ParameterDescription range_setting(std::string otherwise) {
  return range_description().by_default(std::move(otherwise));
}

ParameterDescription range_setting(double least, double greatest) {
  ParameterDescription description = range_description();
  description.default_value = std::vector<double>{least, greatest};
  return description;
}

HeatScale heat_scale(const Settings& settings, std::vector<float> values, const std::string& label,
                     double least_possible) {
  HeatScale result;
  ColourScale& scale = result.scale;
  scale.label = label;
  const ColourMap& map = find_colour_map(settings.text("colour-map"));
  scale.colour_map = map.name;
  scale.norm = settings.choice("norm", scale_norm_names);

  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  if (values.empty()) values.push_back(0);
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const double low = *least;
  const double high = *greatest;
  if (settings.is("range", "auto") || settings.is("range", "full")) {
    scale.minimum = std::min(low, 0.0);
    scale.maximum = high;
    if (settings.is("range", "auto")) {
      const auto nth = values.begin() +
                       static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * 0.995);
      std::nth_element(values.begin(), nth, values.end());
      if (static_cast<double>(*nth) > scale.minimum) scale.maximum = static_cast<double>(*nth);
    }
    if (map.diverging) {
      scale.maximum = std::max(std::abs(scale.minimum), std::abs(scale.maximum));
      scale.minimum = std::max(-scale.maximum, least_possible);
    }
    if (!(scale.maximum > scale.minimum)) scale.maximum = scale.minimum + 1;
  } else {
    set_range(scale, settings.numbers("range"));
  }
  result.clipped = high > scale.maximum || low < scale.minimum;
  return result;
}

std::string clipping_in_words(const HeatScale& scale) {
  if (!scale.clipped) return {};
  return "Values outside " + rounded_text(scale.scale.minimum, 3) + " to " +
         rounded_text(scale.scale.maximum, 3) + " have the colour of the nearest end. ";
}

void make_alike(std::span<Figure> figures) {
  if (figures.empty()) return;
  std::vector<ColourScale> all = figures.front().colour_scales;
  const std::size_t panels = figures.front().panels.size();
  double height_mm = 0;
  if (all.empty()) {
    throw Error(ErrorKind::usage, "a film needs a figure with a colour scale that its frames share")
        .about(figures.front().name)
        .remedy("choose attention-maps or attention-overlay");
  }
  for (const Figure& figure : figures) {
    require_alike(figure, " panels", panels, figure.panels.size());
    require_alike(figure, " colour scales", all.size(), figure.colour_scales.size());
    height_mm = std::max(height_mm, figure.height_mm);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].minimum = std::min(all[i].minimum, figure.colour_scales[i].minimum);
      all[i].maximum = std::max(all[i].maximum, figure.colour_scales[i].maximum);
    }
  }
  for (Figure& figure : figures) {
    figure.colour_scales = all;
    figure.height_mm = height_mm;
  }
}

}  // namespace attnscope
