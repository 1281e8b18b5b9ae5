// Means of rank / null over several maps.
#pragma once

#include <cstdint>

#include "analysis/spectrum/spectrum.h"

namespace attnscope {

struct NullRanks;

/// Means of the null rank and of rank / null over the maps for which both are known.
struct MeanNullRank {
  std::int64_t maps = 0;
  double rank_sum = 0, ratio_sum = 0;

  void add(const MapSpectrum& map, const NullRanks& null);
  [[nodiscard]] double rank() const;   ///< mean rank of the null models; NaN without maps
  [[nodiscard]] double ratio() const;  ///< mean of rank / null; NaN without maps
};

/// Mean over the recorded maps of options.layers, without I. Throws like null_ranks.
[[nodiscard]] MeanNullRank mean_null_rank(const Trace& trace, const SpectrumOptions& options = {});

}  // namespace attnscope
