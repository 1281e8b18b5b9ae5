// Means, standard deviations and quantiles from the sums of a sweep.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/sweep/sweep.h"

namespace attnscope {

/// Value of a statistic without samples, or of a deviation with one sample.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// The mean curve of the chosen maps.
struct SweptSpectrum {
  std::int64_t maps = 0, left_out = 0;
  std::vector<double> mean_share;          ///< f̄(r), r = 1 … n; empty without maps
  std::vector<double> standard_deviation;  ///< deviation of f(r) over maps (n − 1); NaN for one map
  std::int64_t rank_of_mean = 0;           ///< least r with f̄(r) ≥ threshold
};

/// Mean curve of the maps of `layers` and `heads` (empty: all). Throws Error(usage) if their maps
/// differ in size, or for an index out of range.
[[nodiscard]] SweptSpectrum swept_spectrum(const SweepSeries& series,
                                           const std::vector<std::int64_t>& layers,
                                           const std::vector<std::int64_t>& heads,
                                           double threshold);

/// Mean curve of the null models, kShuffles per map with its rows shuffled. Throws Error(usage)
/// like swept_spectrum, and if the sweep did not keep their spectra.
[[nodiscard]] SweptSpectrum swept_null_spectrum(const SweepSeries& series,
                                                const std::vector<std::int64_t>& layers,
                                                const std::vector<std::int64_t>& heads,
                                                double threshold);

/// The distribution of the maps' own equivalent ranks.
struct SweptRanks {
  std::int64_t maps = 0;
  /// Mean and deviation of the sample (n − 1).
  double mean = kUnknown, standard_deviation = kUnknown;
  std::vector<std::int64_t> counts;  ///< [n + 1]: number of maps of rank r

  /// rank_quantile of the maps' ranks (analysis/spectrum/mean_spectrum.h); NaN without maps.
  [[nodiscard]] double quantile(double q) const;
};

/// Ranks of one layer at thresholds[threshold], of one head or (−1) of all heads.
[[nodiscard]] SweptRanks swept_ranks(const LayerSweep& layer, std::int64_t head,
                                     std::size_t threshold);

/// Mean and standard deviation of a statistic over inputs, of one head or (−1) of all heads.
struct SweptStatistic {
  std::int64_t count = 0;
  double mean = kUnknown, standard_deviation = kUnknown;
  double least = kUnknown, greatest = kUnknown;
};
[[nodiscard]] SweptStatistic swept_statistic(const StatisticSums& sums, std::int64_t head);

/// Index of `threshold` among the sweep's thresholds. Throws Error(usage) listing them.
[[nodiscard]] std::size_t find_threshold(const SweepResult& result, double threshold);

}  // namespace attnscope
