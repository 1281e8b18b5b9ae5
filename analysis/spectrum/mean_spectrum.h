// Averages of spectra over maps and inputs. Two forms, and a view says which it shows: the mean
// curve and its rank, and the distribution of the maps' own ranks.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "analysis/spectrum/spectrum.h"

namespace attnscope {

/// Equivalent ranks of single maps. What they do not tell is NaN, or none.
struct RankDistribution {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  std::vector<std::int64_t> ranks;  ///< ascending
  double mean = kUnknown;
  double standard_deviation = kUnknown;  ///< of the sample (n − 1); of two maps or more
  std::optional<std::int64_t> minimum, maximum;
  /// Linear between ranks, as NumPy.
  double lower_quartile = kUnknown, median = kUnknown, upper_quartile = kUnknown;
};

/// Of all ready maps in a list; the others are counted.
struct MeanSpectrum {
  std::int64_t maps = 0;      ///< averaged
  std::int64_t left_out = 0;  ///< not ready
  double threshold = 0.9;     ///< τ of every rank here
  /// The maps differ in size: curves are averaged by the relative rank r/n, n the number of a map's
  /// singular values; r here counts K-ths, K the greatest n. `ranks` are the maps' own, unscaled.
  bool relative = false;
  std::vector<double> mean_share;             ///< f̄(r), r = 1 … K: the mean of the maps' f(r)
  std::vector<double> low_share, high_share;  ///< the least and greatest f(r) of any map
  std::int64_t rank_of_mean = 0;  ///< smallest r with f̄(r) ≥ threshold; 0 without maps
  RankDistribution ranks;         ///< of the maps' own equivalent ranks
};

/// Throws Error(usage) for a threshold out of range.
[[nodiscard]] MeanSpectrum mean_spectrum(std::span<const MapSpectrum> spectra, double threshold);

}  // namespace attnscope
