#include "analysis/baselines/null_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "analysis/spectrum/map_entries.h"
#include "core/error.h"

namespace attnscope {

namespace {

void check_tokens(const MatrixD& map, const SpectrumOptions& options, std::int64_t layer) {
  const std::int64_t smaller = std::min(map.rows(), map.cols());
  if (smaller <= options.dense_limit) return;
  throw Error(ErrorKind::usage, "null models are not computed for this many tokens")
      .about("layer " + std::to_string(layer))
      .expected("at most " + std::to_string(options.dense_limit))
      .found(std::to_string(smaller))
      .remedy("raise --dense-limit, if there is time for it");
}

/// Adds I if `identity`, subtracts the mean row if `centred`, and returns the spectrum.
MapSpectrum spectrum_of_null(MatrixD map, bool identity, bool centred,
                             const SpectrumOptions& options) {
  if (identity) map.diagonal().array() += 1;
  if (centred) take_mean_row_away(map);
  return spectrum_of_matrix(map, options);
}

}  // namespace

void check_null_models(const MatrixChoice& analysed) {
  if (analysed.is_map()) return;
  throw Error(ErrorKind::usage, "null models are only defined for attention maps")
      .about("--baselines")
      .found(in_words(analysed));
}

NullRanks null_ranks_at(const Trace& trace, const MapIndex& place, const MatrixChoice& analysed,
                        const SpectrumOptions& options) {
  const MatrixD map = map_seen(trace, place, IdentityView::without);
  check_tokens(map, options, place.layer);
  NullRanks null;
  null.layer = place.layer;
  null.head = place.head;
  null.identity = has_identity(trace, place.layer, analysed.identity);
  null.causal = is_causal(map);
  const SeenKeys seen = seen_keys(trace.layers[static_cast<std::size_t>(place.layer)], map);
  if (!map.array().isFinite().all() || (map.array() == 0).all()) return null;
  double sum = 0, squares = 0;
  for (unsigned seed = 0; seed < kShuffles; ++seed) {
    MapSpectrum spectrum =
        spectrum_of_null(shuffled_rows(map, seed, seen), null.identity, analysed.centred, options);
    if (spectrum.state != SpectrumState::ready) {
      null.shuffled.clear();
      return null;
    }
    spectrum.layer = place.layer;
    spectrum.head = place.head;
    spectrum.identity = null.identity;
    const auto rank = static_cast<double>(spectrum.equivalent_rank);
    sum += rank;
    squares += rank * rank;
    null.shuffled.push_back(std::move(spectrum));
  }
  null.known = true;
  null.rank = sum / kShuffles;
  null.deviation = std::sqrt(std::max(0.0, (squares - sum * sum / kShuffles) / (kShuffles - 1)));
  const MapSpectrum even = spectrum_of_null(even_map(map.rows(), map.cols(), seen), null.identity,
                                            analysed.centred, options);
  // Centred equal rows are zeros: their rank is 0.
  null.even_rank = even.state == SpectrumState::ready ? even.equivalent_rank : 0;
  return null;
}

double rank_over_null(const MapSpectrum& map, const NullRanks& null) {
  if (map.state != SpectrumState::ready || !null.known || !(null.rank > 0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return static_cast<double>(map.equivalent_rank) / null.rank;
}

void MeanNullRank::add(const MapSpectrum& map, const NullRanks& null) {
  const double ratio = rank_over_null(map, null);
  if (std::isnan(ratio)) return;
  ++maps;
  rank_sum += null.rank;
  ratio_sum += ratio;
}

double MeanNullRank::rank() const {
  return maps > 0 ? rank_sum / static_cast<double>(maps) : std::numeric_limits<double>::quiet_NaN();
}

double MeanNullRank::ratio() const {
  return maps > 0 ? ratio_sum / static_cast<double>(maps)
                  : std::numeric_limits<double>::quiet_NaN();
}

MeanNullRank mean_null_rank(const Trace& trace, const SpectrumOptions& options) {
  const std::vector<MapSpectrum> maps = spectra_of(trace, IdentityView::without, options);
  const std::vector<NullRanks> null =
      null_ranks(trace, {.identity = IdentityView::without}, options);
  MeanNullRank mean;
  for (std::size_t i = 0; i < maps.size(); ++i) mean.add(maps[i], null[i]);
  return mean;
}

SeenKeys seen_keys(const LayerTrace& layer, const MatrixD& map) {
  if (layer.seen) return *layer.seen;
  return is_causal(map) ? up_to_the_query(map.rows()) : SeenKeys{};
}

MatrixD shuffled_rows(const MatrixD& map, unsigned seed, const SeenKeys& seen) {
  std::mt19937 random(seed);
  MatrixD shuffled = map;
  for (Eigen::Index row = 0; row < map.rows(); ++row) {
    const std::vector<std::int64_t> keys = seen.keys_of(row, map.cols());
    for (std::size_t left = keys.size(); left > 1; --left) {
      // ⌊u · left / 2³²⌋ is reproducible in NumPy.
      const auto other = static_cast<std::size_t>((std::uint64_t{random()} * left) >> 32U);
      std::swap(shuffled(row, keys[left - 1]), shuffled(row, keys[other]));
    }
  }
  return shuffled;
}

MatrixD even_map(std::int64_t rows, std::int64_t columns, const SeenKeys& seen) {
  MatrixD map = MatrixD::Zero(rows, columns);
  for (Eigen::Index row = 0; row < rows; ++row) {
    const std::vector<std::int64_t> keys = seen.keys_of(row, columns);
    for (const std::int64_t key : keys) map(row, key) = 1.0 / static_cast<double>(keys.size());
  }
  return map;
}

std::vector<NullRanks> null_ranks(const Trace& trace, const MatrixChoice& analysed,
                                  const SpectrumOptions& options, const Progress& progress) {
  check_threshold(options.threshold);
  const std::vector<MapIndex> places = recorded_maps(trace, options.layers);
  std::vector<NullRanks> ranks(places.size());
  for_each_map(
      trace, places, progress,
      [&](std::size_t index) {
        ranks[index] = null_ranks_at(trace, places[index], analysed, options);
        return [] {};
      },
      "null models");
  return ranks;
}

std::optional<BlockRank> block_rank(const MatrixD& map, const SpectrumOptions& options) {
  constexpr std::int64_t kParts = 16;
  if (!is_causal(map) || !map.array().isFinite().all()) return std::nullopt;
  const std::int64_t n = map.rows(), parts = std::min<std::int64_t>(n, kParts);
  std::optional<BlockRank> greatest;
  for (std::int64_t part = 1; part < parts; ++part) {
    const std::int64_t cut = (part * n + parts - 1) / parts;
    MatrixD block = map.block(cut, 0, n - cut, cut);
    const MapSpectrum spectrum = spectrum_of_matrix(block, options);
    if (spectrum.state == SpectrumState::not_converged) return std::nullopt;
    // A block of zeros has rank 0.
    const bool ready = spectrum.state == SpectrumState::ready;
    const std::int64_t rank = ready ? spectrum.equivalent_rank : 0;
    const std::int64_t numerical = ready ? spectrum.numerical_rank : 0;
    if (!greatest || rank > greatest->equivalent_rank) {
      const std::int64_t before = greatest ? greatest->numerical_rank : 0;
      greatest = BlockRank{rank, before, cut, std::min(n - cut, cut)};
    }
    greatest->numerical_rank = std::max(greatest->numerical_rank, numerical);
  }
  return greatest;
}

std::vector<MapBaselines> baselines_of(const Trace& trace, const MatrixChoice& analysed,
                                       const SpectrumOptions& options, const Progress& progress) {
  std::vector<NullRanks> null = null_ranks(trace, analysed, options, progress.part(0, 0.8));
  const auto blocks = block_ranks(trace, options, progress.part(0.8, 1));
  std::vector<MapBaselines> baselines(null.size());
  for (std::size_t index = 0; index < null.size(); ++index) {
    null[index].shuffled.clear();
    baselines[index] = {std::move(null[index]), blocks[index]};
  }
  return baselines;
}

std::vector<std::optional<BlockRank>> block_ranks(const Trace& trace,
                                                  const SpectrumOptions& options,
                                                  const Progress& progress) {
  const std::vector<MapIndex> places = recorded_maps(trace, options.layers);
  std::vector<std::optional<BlockRank>> ranks(places.size());
  for_each_map(
      trace, places, progress,
      [&](std::size_t index) {
        const MatrixD map = map_seen(trace, places[index], IdentityView::without);
        check_tokens(map, options, places[index].layer);
        ranks[index] = block_rank(map, options);
        return [] {};
      },
      "blocks");
  return ranks;
}

}  // namespace attnscope
