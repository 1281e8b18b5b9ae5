// Means of rank / null over several maps.
#pragma once

#include <cstdint>

#include "analysis/spectrum/spectrum.h"

namespace attnscope {

struct NullRanks;

/// Means over several maps of null ranks and of rank / null, of those that have both.
struct MeanNullRank {
  std::int64_t maps = 0;
  double rank_sum = 0, ratio_sum = 0;

  void add(const MapSpectrum& map, const NullRanks& null);
  [[nodiscard]] double rank() const;   ///< of the null models; NaN without maps
  [[nodiscard]] double ratio() const;  ///< mean of the maps' ratios; NaN without maps
};

/// Of the trace's maps as `view` sees them, of options.layers. Throws as null_ranks.
[[nodiscard]] MeanNullRank mean_null_rank(const Trace& trace, IdentityView view,
                                          const SpectrumOptions& options = {});

}  // namespace attnscope
