// Null models: ranks and spectra that a map without structure would have.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/matrix/analysed_matrix.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/spectrum.h"

namespace attnscope {

/// Number of shuffled copies of each map, with the seeds 0 to 7.
inline constexpr unsigned kShuffles = 8;

/// Throws Error(usage) unless `analysed` is an attention map, centred or not, without added terms.
void check_null_models(const MatrixChoice& analysed);

/// Keys that each query of `map`, a map of `layer`, sees. If the trace does not record them: keys
/// up to the query for a causal square map, otherwise all keys.
[[nodiscard]] SeenKeys seen_keys(const LayerTrace& layer, const MatrixD& map);

/// Permutes each row's entries among the keys that it sees, so every row keeps its entropy. Uses
/// MT19937 and the Fisher–Yates shuffle: the result is the same on every machine.
[[nodiscard]] MatrixD shuffled_rows(const MatrixD& map, unsigned seed, const SeenKeys& seen);

/// Map with equal weights that sum to 1 on the keys that each query sees, and 0 elsewhere.
[[nodiscard]] MatrixD even_map(std::int64_t rows, std::int64_t columns, const SeenKeys& seen);

/// Null models of one map.
struct NullRanks {
  std::int64_t layer = 0, head = 0;
  bool identity = false;              ///< true if I was added to the null models
  bool causal = false;                ///< true if the map without I is causal
  std::vector<MapSpectrum> shuffled;  ///< kShuffles spectra if known
  double rank = 0, deviation = 0;     ///< shuffled maps' equivalent rank: mean, deviation (n − 1)
  std::int64_t even_rank = 0;         ///< equivalent rank of even_map
  bool known = false;                 ///< true if all spectra above exist
};

/// Null models of one recorded map, the matrix that check_null_models allows. Its rows are shuffled
/// without I; I is then added if the view has it, and the mean row is subtracted if `analysed` is
/// centred. Throws Error(usage) for more than options.dense_limit tokens.
[[nodiscard]] NullRanks null_ranks_at(const Trace& trace, const MapIndex& place,
                                      const MatrixChoice& analysed,
                                      const SpectrumOptions& options = {});

/// Column "rank / null" of every table of ranks: the map's equivalent rank over the mean rank of
/// its null models. NaN if either is unknown.
[[nodiscard]] double rank_over_null(const MapSpectrum& map, const NullRanks& null);

/// Null models of every recorded map, in order of layer and head, on all cores: each like
/// null_ranks_at. Throws Error(usage) like spectra_of, and for more than options.dense_limit
/// tokens.
[[nodiscard]] std::vector<NullRanks> null_ranks(const Trace& trace,
                                                const MatrixChoice& analysed = {},
                                                const SpectrumOptions& options = {},
                                                const Progress& progress = {});

/// Rank below the diagonal of a causal map. A triangle with a positive diagonal always has full
/// rank, but its blocks A[t:, :t] need not (semiseparable rank). The block with the greatest
/// equivalent rank of 15 cuts t = ⌈kN/16⌉ is taken, of all cuts if N ≤ 16. Adding I does not change
/// it.
struct BlockRank {
  std::int64_t equivalent_rank = 0, numerical_rank = 0;
  std::int64_t cut = 0;      ///< t of the greatest equivalent rank
  std::int64_t largest = 0;  ///< min(N − t, t), the largest rank possible at that cut
};

/// Empty for a map that is not causal, not finite or a single token, or if a block's values do not
/// converge.
[[nodiscard]] std::optional<BlockRank> block_rank(const MatrixD& map,
                                                  const SpectrumOptions& options = {});

/// Null models and block rank of one map.
struct MapBaselines {
  NullRanks null;  ///< without the spectra of the shuffled maps
  std::optional<BlockRank> block;
};

/// Baselines of every recorded map, in order of layer and head. Throws like null_ranks.
[[nodiscard]] std::vector<MapBaselines> baselines_of(const Trace& trace,
                                                     const MatrixChoice& analysed,
                                                     const SpectrumOptions& options = {},
                                                     const Progress& progress = {});

/// Block rank of every recorded map, in order of layer and head.
[[nodiscard]] std::vector<std::optional<BlockRank>> block_ranks(const Trace& trace,
                                                                const SpectrumOptions& options = {},
                                                                const Progress& progress = {});

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
