// Averages of spectra over maps and inputs in two forms: the mean curve with its rank, and the
// distribution of the maps' own ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "analysis/spectrum/spectrum.h"

namespace attnscope {

/// Quantile q in [0, 1] of `count` ascending ranks, of which rank_at(i) is the i-th from 0, linear
/// between ranks like NumPy; NaN without ranks. Sweeps count ranks, other analyses list them.
[[nodiscard]] double rank_quantile(std::int64_t count,
                                   const std::function<std::int64_t(std::int64_t i)>& rank_at,
                                   double q);

/// Distribution of the equivalent ranks of single maps. Undefined values are NaN or empty.
struct RankDistribution {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  std::vector<std::int64_t> ranks;  ///< ascending
  double mean = kUnknown;
  /// Sample standard deviation (n − 1); needs at least 2 maps.
  double standard_deviation = kUnknown;
  std::optional<std::int64_t> minimum, maximum;
  double lower_quartile = kUnknown, median = kUnknown, upper_quartile = kUnknown;
};

/// Average of all ready maps; the others are counted.
struct MeanSpectrum {
  std::int64_t maps = 0;         ///< number of averaged maps
  std::int64_t left_out = 0;     ///< number of maps that are not ready
  RankThreshold threshold = {};  ///< threshold of all ranks
  /// True if maps differ in size: curves are then averaged by the relative rank r/n, with n the
  /// number of a map's singular values; r counts steps of 1/K, with K the greatest n. `ranks` are
  /// not scaled.
  bool relative = false;
  std::vector<double> mean_share;             ///< f̄(r), r = 1 … K: mean of f(r)
  std::vector<double> low_share, high_share;  ///< least and greatest f(r) of any map
  std::int64_t rank_of_mean = 0;              ///< smallest r with f̄(r) ≥ τ; 0 without maps
  RankDistribution ranks;                     ///< distribution of the maps' equivalent ranks
};

/// Averages the ready spectra. Throws Error(usage) for a threshold out of range.
[[nodiscard]] MeanSpectrum mean_spectrum(std::span<const MapSpectrum> spectra,
                                         const RankThreshold& threshold);

}  // namespace attnscope
