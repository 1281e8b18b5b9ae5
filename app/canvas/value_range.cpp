#include "app/canvas/value_range.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "analysis/figure/colour_map.h"
#include "app/canvas/parallel.h"

namespace attnscope {

namespace {

/// Rounds outwards to two significant digits.
double rounded_out(double value, bool up) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 1);
  const double steps = value / unit;
  return (up ? std::ceil(steps - 1e-6) : std::floor(steps + 1e-6)) * unit;
}

/// True if `known` holds for a layer with computed maps and need not be recomputed.
bool is_known(const LayerValues* known, const ShownMaps& maps, const ImpliedMaps& layer,
              std::int64_t step) {
  return known != nullptr && maps.compared_with() == nullptr && known->of.are_computed_as(layer) &&
         known->settings == maps.settings() && known->step == step;
}

LayerValues values_of_layer(const ShownMaps& maps, std::int64_t layer, std::int64_t step) {
  LayerValues found;
  found.step = step;
  found.settings = maps.settings();
  std::vector<float> row;
  for (std::int64_t column = 0; column < maps.grid().columns; ++column) {
    const MapExtent extent = maps.extent(layer, column);
    row.resize(static_cast<std::size_t>(extent.keys));
    ValueCounts of_map;
    for (std::int64_t query = 0; query < extent.queries; query += step) {
      maps.row(layer, column, query, 0, row);
      of_map.add(row, query, maps.identity_shown(layer, column));
    }
    found.maps.push_back(of_map.in_short());
    found.counts.add(of_map);
  }
  return found;
}

}  // namespace

void ValueHistogram::add(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto magnitude = static_cast<std::size_t>((bits & 0x7fffffffU) >> 18U);
  // Bins ascend with the value, so negative magnitudes run backwards.
  const std::size_t bin =
      (bits >> 31U) != 0 ? bins_of_a_sign - 1 - magnitude : bins_of_a_sign + magnitude;
  ++bins_[bin];
  first_ = std::min(first_, bin);
  end_ = std::max(end_, bin + 1);
  ++count_;
}

void ValueHistogram::add(const ValueHistogram& other) {
  for (std::size_t i = other.first_; i < other.end_; ++i) bins_[i] += other.bins_[i];
  first_ = std::min(first_, other.first_);
  end_ = std::max(end_, other.end_);
  count_ += other.count_;
}

double ValueHistogram::middle(std::size_t bin) const {
  const bool negative = bin < bins_of_a_sign;
  const std::size_t magnitude = negative ? bins_of_a_sign - 1 - bin : bin - bins_of_a_sign;
  if (magnitude == 0) return 0;
  const auto bits = (static_cast<std::uint32_t>(magnitude) << 18U) | (1U << 17U);
  const double value = std::bit_cast<float>(bits);
  return negative ? -value : value;
}

double ValueHistogram::quantile_from(std::size_t first, double wanted) const {
  std::int64_t below = 0;
  for (std::size_t bin = first; bin < end_; ++bin) {
    below += bins_[bin];
    if (bins_[bin] > 0 && static_cast<double>(below) >= wanted) return middle(bin);
  }
  return 0;
}

double ValueHistogram::quantile(double fraction) const {
  return quantile_from(first_, fraction * static_cast<double>(count_));
}

double ValueHistogram::positive_quantile(double fraction) const {
  const std::size_t first = std::max(first_, bins_of_a_sign + 1);
  std::int64_t positive = 0;
  for (std::size_t bin = first; bin < end_; ++bin) positive += bins_[bin];
  return quantile_from(first, fraction * static_cast<double>(positive));
}

std::vector<std::int64_t> ValueHistogram::counts(double low, double high, std::size_t parts) const {
  std::vector<std::int64_t> counts(parts);
  if (!(high > low)) return counts;
  for (std::size_t bin = first_; bin < end_; ++bin) {
    if (bins_[bin] == 0) continue;
    const double at = (middle(bin) - low) / (high - low) * static_cast<double>(parts);
    if (at < 0 || at > static_cast<double>(parts)) continue;
    counts[std::min(static_cast<std::size_t>(at), parts - 1)] += bins_[bin];
  }
  return counts;
}

void ValueCounts::add(std::span<const float> row, std::int64_t diagonal, bool identity) {
  for (std::size_t k = 0; k < row.size(); ++k) {
    const float shown = row[k];
    if (!std::isfinite(shown)) {
      ++not_finite;
      continue;
    }
    const float attention_value =
        identity && static_cast<std::int64_t>(k) == diagonal ? shown - 1 : shown;
    ++finite;
    minimum = std::min(minimum, static_cast<double>(shown));
    maximum = std::max(maximum, static_cast<double>(shown));
    attention_minimum = std::min(attention_minimum, static_cast<double>(attention_value));
    attention_maximum = std::max(attention_maximum, static_cast<double>(attention_value));
    attention.add(attention_value);
  }
}

void ValueCounts::add(const ValueCounts& other) {
  minimum = std::min(minimum, other.minimum);
  maximum = std::max(maximum, other.maximum);
  attention_minimum = std::min(attention_minimum, other.attention_minimum);
  attention_maximum = std::max(attention_maximum, other.attention_maximum);
  finite += other.finite;
  not_finite += other.not_finite;
  attention.add(other.attention);
}

RangeBasis ValueCounts::in_short() const {
  RangeBasis map;
  map.finite = finite;
  if (finite == 0) return map;
  map.minimum = minimum;
  map.maximum = maximum;
  map.attention_minimum = attention_minimum;
  map.attention_maximum = attention_maximum;
  for (std::size_t i = 0; i < std::size(range_shares); ++i) {
    map.low[i] = attention.quantile(1 - range_shares[i]);
    map.high[i] = attention.quantile(range_shares[i]);
  }
  map.least_positive = attention.positive_quantile(0.05);
  return map;
}

ValueStatistics value_statistics(const ShownMaps& maps, const ValueStatistics* before,
                                 std::int64_t most_values) {
  const AtlasGrid& grid = maps.grid();
  std::int64_t cells = 0, greatest = 0;  // numbers of cells, of all layers and the largest one
  bool are_all_there = true;
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    std::int64_t own = 0;
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const MapExtent extent = maps.extent(layer, column);
      own += extent.queries * extent.keys;
    }
    cells += own;
    greatest = std::max(greatest, own);
    are_all_there = are_all_there && own > 0;
  }
  if (!are_all_there) cells = greatest * grid.layers;
  const std::int64_t step = std::max<std::int64_t>(1, (cells + most_values - 1) / most_values);
  ValueStatistics result;
  result.columns = grid.columns;
  result.layers.resize(static_cast<std::size_t>(grid.layers));
  for_each_index(grid.layers, [&](std::int64_t layer) {
    const auto index = static_cast<std::size_t>(layer);
    const ImpliedMaps& own = maps.trace().layers[index].implied_map;
    if (before != nullptr && index < before->layers.size() &&
        is_known(before->layers[index].get(), maps, own, step)) {
      result.layers[index] = before->layers[index];
      return;
    }
    LayerValues found = values_of_layer(maps, layer, step);
    if (own.are_computed()) found.of = own;
    result.layers[index] = std::make_shared<const LayerValues>(std::move(found));
  });
  for (const auto& layer : result.layers) result.all.add(layer->counts);
  result.all_in_short = result.all.in_short();
  return result;
}

ValueRange shared_range(std::span<const ValueStatistics* const> subjects,
                        const ViewSettings& view) {
  std::vector<const ValueStatistics*> known(subjects.begin(), subjects.end());
  std::erase(known, nullptr);
  if (known.size() == 1) return map_range(known.front()->all_in_short, view);
  ValueCounts all;
  for (const ValueStatistics* subject : known) all.add(subject->all);
  return map_range(all.in_short(), view);
}

ValueRange map_range(const RangeBasis& map, const ViewSettings& view) {
  ValueRange range;
  if (map.finite > 0) {
    if (view.norm == ScaleNorm::logarithmic) {
      range.maximum = rounded_out(map.attention_maximum, true);
      range.minimum = rounded_out(map.least_positive, false);
      if (range.minimum >= range.maximum) range.minimum = range.maximum / 10;
    } else {
      const auto found = std::ranges::find(range_shares, view.range_share);
      const auto share = static_cast<std::size_t>(found - std::begin(range_shares));
      const bool whole = view.norm == ScaleNorm::symmetric_logarithmic || view.range_share == 1 ||
                         share == std::size(range_shares);
      range.maximum = rounded_out(
          whole ? map.attention_maximum : std::min(map.high[share] * 1.02, map.attention_maximum),
          true);
      // Rounding noise of a map after removing I is not a negative value.
      range.minimum = map.attention_minimum > -1e-6 ? 0
                      : whole                       ? rounded_out(map.attention_minimum, false)
                                                    : rounded_out(map.low[share], false);
    }
    if (find_colour_map(view.colour_map).diverging && view.norm != ScaleNorm::logarithmic) {
      range.maximum = std::max(std::abs(range.minimum), std::abs(range.maximum));
      range.minimum = -range.maximum;
    }
  }
  if (view.range_minimum) range.minimum = *view.range_minimum;
  if (view.range_maximum) range.maximum = *view.range_maximum;
  if (!(range.maximum > range.minimum)) {
    range.maximum = range.minimum + std::max(1e-6, std::abs(range.minimum) * 1e-3);
  }
  if (map.finite == 0) return range;
  range.least = map.minimum;
  range.greatest = map.maximum;
  const double slack = (range.maximum - range.minimum) * 1e-6;
  range.clips_below = map.minimum < range.minimum - slack;
  range.clips_above = map.maximum > range.maximum + slack;
  return range;
}

ViewSettings view_of_differences(const ViewSettings& view) {
  ViewSettings result = view;
  result.range_minimum.reset();
  result.range_maximum.reset();
  if (view.norm == ScaleNorm::logarithmic) result.norm = ScaleNorm::symmetric_logarithmic;
  if (view.comparison == ComparisonView::absolute_difference) return result;
  if (!find_colour_map(view.colour_map).diverging) result.colour_map = "diverging";
  if (view.comparison == ComparisonView::relative_difference) {
    result.norm = ScaleNorm::linear;
    result.range_minimum = -1;
    result.range_maximum = 1;
  }
  return result;
}

const char* value_name(ComparisonView view) {
  switch (view) {
    case ComparisonView::difference:
      return "difference";
    case ComparisonView::absolute_difference:
      return "absolute difference";
    case ComparisonView::relative_difference:
      return "relative difference";
    default:
      return "attention weight";
  }
}

ColourScale colour_scale(const ValueRange& range, const ViewSettings& view) {
  ColourScale scale;
  scale.label = "attention weight";
  scale.colour_map = view.colour_map;
  scale.minimum = range.minimum;
  scale.maximum = range.maximum;
  scale.norm = view.norm;
  scale.reversed = view.reversed_colours;
  return scale;
}

}  // namespace attnscope
