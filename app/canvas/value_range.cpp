#include "app/canvas/value_range.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "analysis/figure/colour_map.h"
#include "app/canvas/parallel.h"

namespace attnscope {

namespace {

/// Outwards to two significant digits.
double rounded_out(double value, bool up) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 1);
  const double steps = value / unit;
  return (up ? std::ceil(steps - 1e-6) : std::floor(steps + 1e-6)) * unit;
}

struct RowSums {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
  double attention_minimum = std::numeric_limits<double>::infinity();
  double attention_maximum = -std::numeric_limits<double>::infinity();
  std::int64_t finite = 0, not_finite = 0;
  ValueHistogram attention;

  void add(std::span<const float> row, std::int64_t diagonal, bool identity) {
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

  void add(const RowSums& other) {
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
    attention_minimum = std::min(attention_minimum, other.attention_minimum);
    attention_maximum = std::max(attention_maximum, other.attention_maximum);
    finite += other.finite;
    not_finite += other.not_finite;
    attention.add(other.attention);
  }
};

}  // namespace

void ValueHistogram::add(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto magnitude = static_cast<std::size_t>((bits & 0x7fffffffU) >> 18U);
  // Bins rise with the value: negative magnitudes run backwards.
  const std::size_t bin =
      (bits >> 31U) != 0 ? bins_of_a_sign - 1 - magnitude : bins_of_a_sign + magnitude;
  ++bins_[bin];
  ++count_;
}

void ValueHistogram::add(const ValueHistogram& other) {
  for (std::size_t i = 0; i < bins_.size(); ++i) bins_[i] += other.bins_[i];
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

double ValueHistogram::quantile(double fraction) const {
  const double wanted = fraction * static_cast<double>(count_);
  std::int64_t below = 0;
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    below += bins_[i];
    if (bins_[i] > 0 && static_cast<double>(below) >= wanted) return middle(i);
  }
  return 0;
}

double ValueHistogram::positive_quantile(double fraction) const {
  std::int64_t positive = 0;
  for (std::size_t i = bins_of_a_sign + 1; i < bins_.size(); ++i) positive += bins_[i];
  const double wanted = fraction * static_cast<double>(positive);
  std::int64_t below = 0;
  for (std::size_t i = bins_of_a_sign + 1; i < bins_.size(); ++i) {
    below += bins_[i];
    if (bins_[i] > 0 && static_cast<double>(below) >= wanted) return middle(i);
  }
  return 0;
}

std::vector<std::int64_t> ValueHistogram::counts(double low, double high, std::size_t parts) const {
  std::vector<std::int64_t> counts(parts);
  if (!(high > low)) return counts;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    if (bins_[bin] == 0) continue;
    const double at = (middle(bin) - low) / (high - low) * static_cast<double>(parts);
    if (at < 0 || at > static_cast<double>(parts)) continue;
    counts[std::min(static_cast<std::size_t>(at), parts - 1)] += bins_[bin];
  }
  return counts;
}

ValueStatistics value_statistics(const ShownMaps& maps, std::int64_t most_values) {
  const AtlasGrid& grid = maps.grid();
  std::int64_t cells = 0;
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const MapExtent extent = maps.extent(layer, column);
      cells += extent.queries * extent.keys;
    }
  }
  const std::int64_t step = std::max<std::int64_t>(1, (cells + most_values - 1) / most_values);
  std::vector<RowSums> of_layer(static_cast<std::size_t>(grid.layers));
  for_each_index(grid.layers, [&](std::int64_t layer) {
    RowSums& sums = of_layer[static_cast<std::size_t>(layer)];
    std::vector<float> row;
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const MapExtent extent = maps.extent(layer, column);
      row.resize(static_cast<std::size_t>(extent.keys));
      for (std::int64_t query = 0; query < extent.queries; query += step) {
        maps.row(layer, column, query, 0, row);
        sums.add(row, query, maps.identity_shown());
      }
    }
  });
  RowSums total;
  for (const RowSums& sums : of_layer) total.add(sums);
  ValueStatistics result;
  result.finite = total.finite;
  result.not_finite = total.not_finite;
  result.attention = std::move(total.attention);
  if (total.finite > 0) {
    result.minimum = total.minimum;
    result.maximum = total.maximum;
    result.attention_minimum = total.attention_minimum;
    result.attention_maximum = total.attention_maximum;
  }
  return result;
}

ValueRange shared_range(std::span<const ValueStatistics* const> subjects,
                        const ViewSettings& view) {
  ValueHistogram attention;
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
  double attention_minimum = minimum, attention_maximum = maximum;
  for (const ValueStatistics* subject : subjects) {
    if (subject == nullptr || subject->finite == 0) continue;
    attention.add(subject->attention);
    minimum = std::min(minimum, subject->minimum);
    maximum = std::max(maximum, subject->maximum);
    attention_minimum = std::min(attention_minimum, subject->attention_minimum);
    attention_maximum = std::max(attention_maximum, subject->attention_maximum);
  }
  ValueRange range;
  if (attention.count() > 0) {
    if (view.norm == ScaleNorm::logarithmic) {
      range.maximum = rounded_out(attention_maximum, true);
      range.minimum = rounded_out(attention.positive_quantile(0.05), false);
      if (range.minimum >= range.maximum) range.minimum = range.maximum / 10;
    } else {
      const bool whole = view.norm == ScaleNorm::symmetric_logarithmic;
      range.maximum = rounded_out(
          whole ? attention_maximum : std::min(attention.quantile(0.995) * 1.02, attention_maximum),
          true);
      // Rounding noise of a map with I taken away is no negative value.
      range.minimum = attention_minimum > -1e-6 ? 0
                      : whole                   ? rounded_out(attention_minimum, false)
                                                : rounded_out(attention.quantile(0.005), false);
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
  const double slack = (range.maximum - range.minimum) * 1e-6;
  range.clips_below = minimum < range.minimum - slack;
  range.clips_above = maximum > range.maximum + slack;
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
