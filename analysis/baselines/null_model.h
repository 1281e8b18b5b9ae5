// What a map of no structure would have had: ranks and spectra of null models beside a map's own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/analysed/analysed.h"
#include "analysis/baselines/mean_null_rank.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/spectrum.h"

namespace attnscope {

/// How often rows are shuffled: seeds 0 to 7.
inline constexpr unsigned kShuffles = 8;

/// Throws Error(usage) of what is no map: null models are those of maps, centred or not.
void check_null_models(const Analysed& analysed);

/// The keys that the queries of `map`, one of that layer, see. Where the trace does not say it: up
/// to the query in a square map with nothing above the diagonal, else all.
[[nodiscard]] SeenKeys seen_keys(const LayerTrace& layer, const MatrixD& map);

/// Each row's entries at the keys that it sees in an order of their own, so that every row keeps
/// its entropy. By MT19937 and Fisher & Yates: the same on every machine.
[[nodiscard]] MatrixD shuffled_rows(const MatrixD& map, unsigned seed, const SeenKeys& seen);

/// Equal weights that sum to 1 on the keys that each query sees, 0 elsewhere.
[[nodiscard]] MatrixD even_map(std::int64_t rows, std::int64_t columns, const SeenKeys& seen);

/// One map's null models.
struct NullRanks {
  std::int64_t layer = 0, head = 0;
  bool identity = false;              ///< I was added to the null models too
  bool causal = false;                ///< of the map without I
  std::vector<MapSpectrum> shuffled;  ///< kShuffles of them, if known
  double rank = 0, deviation = 0;  ///< equivalent rank of the shuffled: mean, deviation (n − 1)
  std::int64_t even_rank = 0;      ///< equivalent rank of even_map
  bool known = false;              ///< whether the map has a spectrum, and these are known
};

/// Of one recorded map as `view` sees it: its rows are shuffled without I, which is then added
/// where the view has it; without their mean rows if `centred`. Throws Error(usage) for more than
/// options.dense_limit tokens.
[[nodiscard]] NullRanks null_ranks_at(const Trace& trace, const RecordedMap& place,
                                      IdentityView view, bool centred,
                                      const SpectrumOptions& options = {});

/// "rank / null", the column of every table of ranks: the map's equivalent rank over that of its
/// null models. NaN where either is not known.
[[nodiscard]] double rank_over_null(const MapSpectrum& map, const NullRanks& null);

/// Of every recorded map as `view` sees it, in order of layer and head: shuffled without I, which
/// is then added where the view has it; without their mean rows if `centred`. All cores. Throws
/// Error(usage) as spectra_of, and for more than options.dense_limit tokens.
[[nodiscard]] std::vector<NullRanks> null_ranks(const Trace& trace, IdentityView view, bool centred,
                                                const SpectrumOptions& options = {},
                                                const Progress& progress = {});

/// The rank of what lies below the diagonal of a causal map: a triangle with a positive diagonal
/// has full rank whatever it does, but blocks A[t:, :t] need not (semiseparable rank). The greatest
/// of 15 cuts t = ⌈kN/16⌉, all where N ≤ 16. I does not touch it.
struct BlockRank {
  std::int64_t equivalent_rank = 0, numerical_rank = 0;
  std::int64_t cut = 0;      ///< t of the greatest equivalent rank
  std::int64_t largest = 0;  ///< min(N − t, t) there: what it could be
};

/// Null for a map that is not causal, or of which no block has a spectrum.
[[nodiscard]] std::optional<BlockRank> block_rank(const MatrixD& map,
                                                  const SpectrumOptions& options = {});

/// Both of one map.
struct MapBaselines {
  NullRanks null;  ///< without its spectra
  std::optional<BlockRank> block;
};

/// Of every recorded map, in order of layer and head. Throws as null_ranks.
[[nodiscard]] std::vector<MapBaselines> baselines_of(const Trace& trace, IdentityView view,
                                                     bool centred,
                                                     const SpectrumOptions& options = {},
                                                     const Progress& progress = {});

/// The blocks of every recorded map, in order of layer and head.
[[nodiscard]] std::vector<std::optional<BlockRank>> block_ranks(const Trace& trace,
                                                                const SpectrumOptions& options = {},
                                                                const Progress& progress = {});

}  // namespace attnscope
