#include "analysis/figure/ticks.h"

#include <cmath>

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
  // A round number too near the end would touch its label.
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

}  // namespace attnscope
