#include "analysis/figure/ticks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/figure/colour_map.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// Range of the values included so far; only positive values on a logarithmic axis.
struct AxisExtent {
  bool positive_only = false;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (!std::isfinite(value) || (positive_only && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void include(const std::vector<double>& values) {
    for (const double value : values) include(value);
  }
};

/// The range with margins on both sides; `pad` is their share of the data's range.
AxisRange range_from(const Axis& axis, AxisExtent extent, double pad) {
  if (extent.low > extent.high) extent.low = axis.logarithmic ? 1 : 0, extent.high = 1;
  if (axis.logarithmic) {
    const double factor = std::pow(std::max(extent.high / extent.low, 1.01), pad);
    extent.low /= factor;
    extent.high *= factor;
  } else {
    const double room = extent.high > extent.low ? (extent.high - extent.low) * pad
                                                 : std::max(std::abs(extent.high), 1.0) / 2;
    extent.low -= room;
    extent.high += room;
  }
  return {axis.minimum.value_or(extent.low), axis.maximum.value_or(extent.high)};
}

void include_mark(const Mark& mark, AxisExtent& x, AxisExtent& y, bool& fills) {
  if (const auto* line = std::get_if<Line>(&mark)) {
    x.include(line->x);
    y.include(line->y);
  } else if (const auto* band = std::get_if<Band>(&mark)) {
    x.include(band->x);
    y.include(band->low);
    y.include(band->high);
  } else if (const auto* point = std::get_if<PointMark>(&mark)) {
    x.include(point->x);
    y.include(point->y);
  } else if (const auto* rule = std::get_if<Rule>(&mark)) {
    (rule->vertical ? x : y).include(rule->at);
  } else if (const auto* bars = std::get_if<Bars>(&mark)) {
    for (const double at : bars->x) {
      x.include(at - bars->width);
      x.include(at + bars->width);
    }
    y.include(0);
    y.include(bars->heights);
  } else if (const auto* map = std::get_if<HeatMap>(&mark)) {
    fills = true;
    x.include(-0.5);
    x.include(static_cast<double>(map->columns) - 0.5);
    y.include(-0.5);
    y.include(static_cast<double>(map->rows) - 0.5);
  } else if (const auto* picture = std::get_if<Picture>(&mark)) {
    fills = true;
    x.include(-0.5);
    x.include(static_cast<double>(picture->image.width) - 0.5);
    y.include(-0.5);
    y.include(static_cast<double>(picture->image.height) - 0.5);
  }
}

/// Includes the summed heights of stacked bars.
void include_stacks(const Panel& panel, AxisExtent& y) {
  std::map<double, double> sums;
  for (const Mark& mark : panel.marks) {
    if (const auto* bars = std::get_if<Bars>(&mark)) {
      for (std::size_t i = 0; i < std::min(bars->x.size(), bars->heights.size()); ++i) {
        sums[bars->x[i]] += bars->heights[i];
      }
    }
  }
  for (const auto& [x, sum] : sums) y.include(sum);
}

/// A power of ten as text: "10⁻³".
std::string power_of_ten(int power) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = power < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(power))) text += digits[digit - '0'];
  return text;
}

}  // namespace

PanelRange range_of(const Panel& panel) {
  AxisExtent x{panel.x.logarithmic};
  AxisExtent y{panel.y.logarithmic};
  bool fills = false;
  const bool has_map = std::any_of(panel.marks.begin(), panel.marks.end(), [](const Mark& mark) {
    return std::holds_alternative<HeatMap>(mark);
  });
  for (const Mark& mark : panel.marks) {
    // The cells of a heat map decide the range, not the pixels of the picture under it.
    if (has_map && std::holds_alternative<Picture>(mark)) continue;
    include_mark(mark, x, y, fills);
  }
  include_stacks(panel, y);
  return {range_from(panel.x, x, 0), range_from(panel.y, y, fills ? 0 : 0.05)};
}

std::vector<Tick> ticks_up_to(double end) {
  const double decade = std::pow(10, std::floor(std::log10(end / 4)));
  double step = decade;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * decade;
    if (end / step <= 5) break;
  }
  std::vector<Tick> ticks;
  // Round numbers too close to the end are skipped: their labels would touch.
  for (int index = 0; step * index <= end - 0.6 * step; ++index) {
    const double value = step * index;
    ticks.push_back({value, rounded_text(value, 6)});
  }
  ticks.push_back({end, rounded_text(end, 6)});
  return ticks;
}

std::vector<Tick> share_ticks() {
  return {{0, "0"}, {0.2, "0.2"}, {0.4, "0.4"}, {0.6, "0.6"}, {0.8, "0.8"}, {1, "1"}};
}

std::vector<Tick> layer_ticks(std::int64_t layers, std::int64_t first) {
  const std::int64_t step = (layers + 7) / 8;
  std::vector<Tick> ticks;
  for (std::int64_t layer = first; layer < first + layers; layer += step) {
    ticks.push_back({static_cast<double>(layer), std::to_string(layer)});
  }
  return ticks;
}

namespace {

/// Text of a tick: "0.02", "−5"; from 10⁵ and below 10⁻³ "2·10⁶".
std::string tick_text(double value) {
  const double size = std::abs(value);
  std::string text;
  if (size != 0 && (size >= 1e5 || size < 1e-3)) {
    int power = static_cast<int>(std::floor(std::log10(size)));
    if (size / std::pow(10, power) > 9.9999) ++power;
    const std::string mantissa = rounded_text(size / std::pow(10, power), 4);
    text = (mantissa == "1" ? "" : mantissa + "·") + power_of_ten(power);
  } else {
    text = rounded_text(size, 6);
  }
  return (value < 0 ? "−" : "") + text;
}

std::vector<Tick> with_labels(const std::vector<double>& values) {
  std::vector<Tick> ticks;
  ticks.reserve(values.size());
  for (const double value : values) ticks.push_back({value, tick_text(value)});
  return ticks;
}

}  // namespace

std::vector<Tick> round_ticks(double lower, double upper) {
  const double extent = upper - lower;
  if (!(extent > 0) || !std::isfinite(extent)) return with_labels({lower});
  const double decade = std::pow(10, std::floor(std::log10(extent / 4)));
  double step = decade;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * decade;
    if (extent / step <= 5.5) break;
  }
  std::vector<double> values;
  const double slack = 1e-9 * extent;
  for (double index = std::ceil((lower - slack) / step); index * step <= upper + slack; ++index) {
    values.push_back(index * step);
  }
  return with_labels(values);
}

std::vector<Tick> decade_ticks(double lower, double upper) {
  if (!(lower > 0) || !(upper > lower)) return with_labels({lower});
  const int first = static_cast<int>(std::ceil(std::log10(lower) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(upper) + 1e-9));
  if (last <= first) return round_ticks(lower, upper);
  const int step = (last - first + 8) / 8;
  std::vector<Tick> ticks;
  for (int power = first; power <= last; power += step) {
    ticks.push_back({std::pow(10, power), power_of_ten(power)});
  }
  return ticks;
}

std::vector<Tick> ticks_of(const Axis& axis, double lower, double upper) {
  if (axis.ticks.empty()) {
    return axis.logarithmic ? decade_ticks(lower, upper) : round_ticks(lower, upper);
  }
  std::vector<Tick> inside;
  std::copy_if(axis.ticks.begin(), axis.ticks.end(), std::back_inserter(inside),
               [&](const Tick& tick) { return tick.value >= lower && tick.value <= upper; });
  return inside;
}

std::vector<Tick> bar_ticks(const ColourScale& shown) {
  ColourScale scale = shown;
  if (!(scale.maximum > scale.minimum)) scale.maximum = scale.minimum + 1;
  const double low = scale.minimum, high = scale.maximum;
  std::vector<Tick> ticks;
  switch (scale.norm) {
    case ScaleNorm::linear:
      ticks = round_ticks(low, high);
      break;
    case ScaleNorm::logarithmic:
      ticks = decade_ticks(logarithmic_floor(low, high), high);
      break;
    case ScaleNorm::symmetric_logarithmic: {
      // Ticks of the symmetric logarithmic scale: zero and powers of ten.
      ticks.push_back({0, "0"});
      const double size = std::max(std::abs(low), std::abs(high));
      const int decade = size > 0 ? static_cast<int>(std::floor(std::log10(size))) : 0;
      for (int power = decade; power > decade - 3; --power) {
        const double value = std::pow(10, power);
        const std::string label = rounded_text(value, 3);
        ticks.push_back({value, label});
        ticks.push_back({-value, "−" + label});
      }
      std::erase_if(ticks, [&](const Tick& tick) { return tick.value < low || tick.value > high; });
      break;
    }
  }
  for (Tick& tick : ticks) tick.value = *fraction_of(scale, tick.value);
  return ticks;
}

}  // namespace attnscope
