#include "analysis/figure/ticks.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/colour_map.h"
#include "core/text/number_text.h"

namespace attnscope {

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

std::string power_of_ten(int power) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = power < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(power))) text += digits[digit - '0'];
  return text;
}

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
