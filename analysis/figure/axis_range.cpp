#include "analysis/figure/axis_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace attnscope {

namespace {

/// Range of the values included so far; only positive values on a logarithmic axis.
struct Extent {
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
AxisRange range_from(const Axis& axis, Extent extent, double pad) {
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

void include_mark(const Mark& mark, Extent& x, Extent& y, bool& fills) {
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
void include_stacks(const Panel& panel, Extent& y) {
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

}  // namespace

PanelRange range_of(const Panel& panel) {
  Extent x{panel.x.logarithmic};
  Extent y{panel.y.logarithmic};
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

}  // namespace attnscope
