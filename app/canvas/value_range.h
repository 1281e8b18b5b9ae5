// The one range all compared maps are coloured in: from statistics of each subject's maps.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "analysis/figure/figure.h"
#include "app/canvas/shown_maps.h"
#include "app/session/selection.h"

namespace attnscope {

/// How often which magnitude occurs: floats by sign, exponent and their first five fraction bits,
/// so that a quantile is known to 3 %.
class ValueHistogram {
 public:
  void add(float value);
  void add(const ValueHistogram& other);
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// The value at `fraction` (0 to 1) of all finite ones, in rising order; 0 if there are none.
  [[nodiscard]] double quantile(double fraction) const;
  /// The same among the positive values alone; 0 if there are none.
  [[nodiscard]] double positive_quantile(double fraction) const;
  /// How many values lie in each of `parts` equal parts of low…high.
  [[nodiscard]] std::vector<std::int64_t> counts(double low, double high, std::size_t parts) const;

 private:
  static constexpr std::size_t bins_of_a_sign = std::size_t{1} << 13;  ///< 8 bits and 5 bits
  [[nodiscard]] double middle(std::size_t bin) const;
  [[nodiscard]] double quantile_from(std::size_t first, double wanted) const;

  std::vector<std::int64_t> bins_ = std::vector<std::int64_t>(2 * bins_of_a_sign);
  std::size_t first_ = 2 * bins_of_a_sign, end_ = 0;  ///< what is counted lies in these bins
  std::int64_t count_ = 0;
};

/// What the range of one map needs to know of it; quantiles at range_shares, of values without I.
struct RangeBasis {
  double minimum = 0, maximum = 0;                      ///< of the finite values shown, I included
  double attention_minimum = 0, attention_maximum = 0;  ///< of the same without I
  std::array<double, std::size(range_shares)> low{}, high{};
  double least_positive = 0;  ///< the 5 % quantile of the positive ones
  std::int64_t finite = 0;
};

/// What is counted of rows.
struct ValueCounts {
  /// Of the finite values shown, I included, and of the same without I; ±∞ of none.
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
  double attention_minimum = std::numeric_limits<double>::infinity();
  double attention_maximum = -std::numeric_limits<double>::infinity();
  std::int64_t finite = 0, not_finite = 0;
  ValueHistogram attention;  ///< values without I

  void add(std::span<const float> row, std::int64_t diagonal, bool identity);
  void add(const ValueCounts& other);
  [[nodiscard]] RangeBasis in_short() const;
};

/// What was counted of a layer's maps, and of which, where they are computed whenever they are
/// looked at.
struct LayerValues {
  ValueCounts counts;
  std::vector<RangeBasis> maps;  ///< of each column
  std::int64_t step = 1;         ///< rows from one looked at to the next
  ValueSettings settings;
  ImpliedMaps of;
};

/// What a range needs to know of one subject's shown maps.
struct ValueStatistics {
  ValueCounts all;
  std::int64_t columns = 0;
  std::vector<std::shared_ptr<const LayerValues>> layers;

  [[nodiscard]] const RangeBasis& map(std::int64_t layer, std::int64_t column) const {
    return layers[static_cast<std::size_t>(layer)]->maps[static_cast<std::size_t>(column)];
  }
};

/// Looks at every row, or at evenly spaced ones where there are more than `most_values` cells once
/// all layers are there. Deterministic, whatever the thread count. `before`: of the same trace
/// before it had all its layers; those of computed maps are not looked at again.
[[nodiscard]] ValueStatistics value_statistics(const ShownMaps& maps,
                                               const ValueStatistics* before = nullptr,
                                               std::int64_t most_values = 4'000'000);

struct ValueRange {
  double minimum = 0, maximum = 1;
  bool clips_below = false, clips_above = false;  ///< values lie outside
};

/// The range of the lens where it was set by hand; else one over all subjects. Linear: from 0 (or
/// the quantile at 1 − range_share when there are negative values) to that at range_share, rounded
/// up to two digits. Logarithmic: from the 5 % quantile of the
/// positive values to the largest. I never widens it, so that turning the identity mapping on
/// changes the diagonal only. A diverging colour map gets a range symmetric about 0.
[[nodiscard]] ValueRange shared_range(std::span<const ValueStatistics* const> subjects,
                                      const ViewSettings& view);

/// The same of one map by itself.
[[nodiscard]] ValueRange map_range(const RangeBasis& map, const ViewSettings& view);

/// The lens as it colours differences from a reference: signed ones through the diverging colour
/// map about 0, linear or symmetric logarithmic; the range by hand is that of the weights.
[[nodiscard]] ViewSettings view_of_differences(const ViewSettings& view);

/// "attention weight", "difference", "absolute difference", "relative difference": what the colours
/// of differences, or of weights, stand for.
[[nodiscard]] const char* value_name(ComparisonView view);

/// The lens's colour scale with that range.
[[nodiscard]] ColourScale colour_scale(const ValueRange& range, const ViewSettings& view);

}  // namespace attnscope
