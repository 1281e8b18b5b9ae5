// The value ranges that maps share, from statistics of each model's maps.
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

/// Histogram of floats by sign, exponent and first five fraction bits, which gives quantiles within
/// 3 %.
class ValueHistogram {
 public:
  void add(float value);
  void add(const ValueHistogram& other);
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// The value at `fraction` (0 to 1) of all finite values in ascending order; 0 if there are none.
  [[nodiscard]] double quantile(double fraction) const;
  /// Like quantile, but among the positive values only; 0 if there are none.
  [[nodiscard]] double positive_quantile(double fraction) const;
  /// Numbers of values in each of `parts` equal bins of low…high.
  [[nodiscard]] std::vector<std::int64_t> counts(double low, double high, std::size_t parts) const;

 private:
  static constexpr std::size_t bins_of_a_sign = std::size_t{1} << 13;  ///< 8 + 5 bits
  [[nodiscard]] double middle(std::size_t bin) const;
  [[nodiscard]] double quantile_from(std::size_t first, double wanted) const;

  std::vector<std::int64_t> bins_ = std::vector<std::int64_t>(2 * bins_of_a_sign);
  std::size_t first_ = 2 * bins_of_a_sign, end_ = 0;  ///< range of the non-empty bins
  std::int64_t count_ = 0;
};

/// Statistics of one map for its range; quantiles are at range_shares, of values without I.
struct RangeBasis {
  double minimum = 0, maximum = 0;                      ///< extremes of finite values, including I
  double attention_minimum = 0, attention_maximum = 0;  ///< extremes of the same values without I
  std::array<double, std::size(range_shares)> low{}, high{};
  double least_positive = 0;  ///< 5 % quantile of the positive values
  std::int64_t finite = 0;
};

/// Statistics collected from rows.
struct ValueCounts {
  /// Extremes of the finite values, including I (minimum, maximum) and without I; ±∞ if there are
  /// none.
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

/// Statistics of a layer's maps. `of` and `settings` identify computed maps.
struct LayerValues {
  ValueCounts counts;
  std::vector<RangeBasis> maps;  ///< one per column
  std::int64_t step = 1;         ///< step between the rows that were read
  ValueSettings settings;
  ImpliedMaps of;
};

/// Statistics of one model's shown maps, for ranges.
struct ValueStatistics {
  ValueCounts all;
  RangeBasis all_in_short;
  std::int64_t columns = 0;
  std::vector<std::shared_ptr<const LayerValues>> layers;

  [[nodiscard]] const RangeBasis& map(std::int64_t layer, std::int64_t column) const {
    return layers[static_cast<std::size_t>(layer)]->maps[static_cast<std::size_t>(column)];
  }
};

/// Reads every row, or evenly spaced rows if there are more than `most_values` cells, extrapolated
/// to all layers. Deterministic for any number of threads. `before`: statistics of the same trace
/// when it had fewer layers; layers of computed maps are reused from it.
[[nodiscard]] ValueStatistics value_statistics(const ShownMaps& maps,
                                               const ValueStatistics* before = nullptr,
                                               std::int64_t most_values = 4'000'000);

struct ValueRange {
  double minimum = 0, maximum = 1;
  bool clips_below = false, clips_above = false;  ///< values lie outside the range
  double least = 0, greatest = 0;                 ///< extremes of the values, if there are any
};

/// The manual range of the lens, or one range over these models. Linear: from 0 (or, with negative
/// values, the quantile at 1 − range_share) to the quantile at range_share. Symmetric logarithmic:
/// all values. Logarithmic: from the 5 % quantile of the positive values to the largest. The bounds
/// are rounded outwards to two digits. I never widens the range, so that turning the identity
/// mapping on changes only the diagonal. A diverging colour map gets a range symmetric about 0.
[[nodiscard]] ValueRange shared_range(std::span<const ValueStatistics* const> subjects,
                                      const ViewSettings& view);

/// Like shared_range, but for one map.
[[nodiscard]] ValueRange map_range(const RangeBasis& map, const ViewSettings& view);

/// The lens's view for differences from a reference. Signed differences use the diverging colour
/// map about 0, linear or symmetric logarithmic; relative ones range from −1 to 1. A manual range
/// applies to weights only.
[[nodiscard]] ViewSettings view_of_differences(const ViewSettings& view);

/// Name of the coloured quantity: "attention weight", "difference", "absolute difference" or
/// "relative difference".
[[nodiscard]] const char* value_name(ComparisonView view);

/// The lens's colour scale over `range`.
[[nodiscard]] ColourScale colour_scale(const ValueRange& range, const ViewSettings& view);

}  // namespace attnscope
