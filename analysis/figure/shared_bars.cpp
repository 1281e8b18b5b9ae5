#include "analysis/figure/shared_bars.h"

#include <algorithm>

#include "analysis/figure/colour_map.h"

namespace attnscope {

namespace {

bool overlap(const SharedBar& a, const SharedBar& b) {
  return a.first_row <= b.last_row && b.first_row <= a.last_row;
}

/// Stacks the bars of the same rows if each gets at least two rows: side by side they would take
/// more width than one of the maps. Otherwise later bars are placed outside earlier ones.
void stack_or_rank(std::vector<SharedBar>& bars) {
  const auto count = static_cast<std::int64_t>(bars.size());
  if (count < 2) return;
  std::int64_t first = bars.front().first_row, last = bars.front().last_row;
  bool all_overlap = true;
  for (const SharedBar& bar : bars) {
    first = std::min(first, bar.first_row);
    last = std::max(last, bar.last_row);
    for (const SharedBar& other : bars) all_overlap &= overlap(bar, other);
  }
  const std::int64_t rows = last - first + 1;
  if (all_overlap && rows >= 2 * count) {
    for (std::int64_t i = 0; i < count; ++i) {
      bars[static_cast<std::size_t>(i)].first_row = first + i * rows / count;
      bars[static_cast<std::size_t>(i)].last_row = first + (i + 1) * rows / count - 1;
    }
    return;
  }
  for (std::size_t i = 0; i < bars.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (overlap(bars[i], bars[j])) bars[i].rank = std::max(bars[i].rank, bars[j].rank + 1);
    }
  }
}

}  // namespace

std::vector<SharedBar> shared_bars(const Figure& figure, std::size_t area) {
  std::vector<SharedBar> bars;
  for (std::size_t scale = 0; scale < figure.colour_scales.size(); ++scale) {
    if (figure.colour_scales[scale].bar_area) continue;
    SharedBar bar{scale, 0, 0, 0};
    bool used = false;
    for (const Panel& panel : figure.panels) {
      const bool shares = std::any_of(panel.marks.begin(), panel.marks.end(), [&](const Mark& m) {
        const auto* map = std::get_if<HeatMap>(&m);
        return map != nullptr && map->colour_scale == scale;
      });
      if (!shares || panel.area != area) continue;
      bar.first_row = used ? std::min(bar.first_row, panel.row) : panel.row;
      bar.last_row = used ? std::max(bar.last_row, panel.row) : panel.row;
      used = true;
    }
    if (!used) continue;
    bars.push_back(bar);
  }
  stack_or_rank(bars);
  return bars;
}

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
