#include "analysis/comparison/comparison.h"

#include <cmath>
#include <limits>
#include <map>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/baselines/null_model.h"
#include "analysis/comparison/map_distance.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/rank.h"
#include "core/error.h"

namespace attnscope {

namespace {

using Quantity = ComparisonQuantity;

const MapSpectrum* spectrum_of_map(const std::vector<MapSpectrum>& spectra, std::int64_t layer,
                                   std::int64_t head) {
  for (const MapSpectrum& spectrum : spectra) {
    if (spectrum.layer == layer && spectrum.head == head) return &spectrum;
  }
  return nullptr;
}

void compare_spectra(const MapSpectrum& own, const MapSpectrum& reference,
                     ComparisonValues& values) {
  if (own.state != SpectrumState::ready || reference.state != SpectrumState::ready) return;
  values[Quantity::spectrum_distance] = spectrum_distance(
      cumulative_share(own, own.threshold.of), cumulative_share(reference, own.threshold.of));
  values[Quantity::singular_value_distance] =
      singular_value_distance(own.singular_values, reference.singular_values);
  const auto rank = static_cast<double>(own.equivalent_rank);
  const auto reference_rank = static_cast<double>(reference.equivalent_rank);
  values[Quantity::rank] = rank;
  values[Quantity::reference_rank] = reference_rank;
  values[Quantity::rank_difference] = rank - reference_rank;
  values[Quantity::rank_share_difference] =
      rank / static_cast<double>(own.singular_values.size()) -
      reference_rank / static_cast<double>(reference.singular_values.size());
  values[Quantity::effective_rank_difference] = own.effective_rank - reference.effective_rank;
  values[Quantity::stable_rank_difference] = own.stable_rank - reference.stable_rank;
}

void compare_with_null(const Trace& reference, const Trace& other, const ComparisonOptions& options,
                       const MapSpectrum& own, const MapSpectrum& counterpart,
                       ComparisonValues& values) {
  const SpectrumOptions at = {.threshold = options.threshold};
  const NullRanks null = null_ranks_at(other, {own.layer, own.head}, options.analysed, at);
  if (null.known) values[Quantity::null_rank] = null.rank;
  values[Quantity::rank_over_null] = rank_over_null(own, null);
  values[Quantity::reference_rank_over_null] = rank_over_null(
      counterpart,
      null_ranks_at(reference, {counterpart.layer, counterpart.head}, options.analysed, at));
}

void compare_at_entropy(const Trace& reference, const Trace& other,
                        const ComparisonOptions& options, ComparedMap& map) {
  const MapIndex place{map.layer, map.head};
  const MapIndex counterpart{map.reference_layer, map.reference_head};
  const bool as_reference = *options.at_entropy == reference_entropy;
  const double target =
      as_reference ? entropy_share_at(reference, counterpart) : *options.at_entropy;
  if (!(target > 0 && target < 1)) return;  // unknown, or an entropy that no other map has
  const SpectrumOptions at = {.threshold = options.threshold};
  const EntropyRank own = rank_at_entropy(other, place, target, options.analysed, at);
  map.values[Quantity::rank_at_entropy] = own.rank;
  map.values[Quantity::equal_entropy] = target;
  map.values[Quantity::equal_entropy_temperature] = own.tempered.temperature;
  map.values[Quantity::reference_rank_at_entropy] =
      as_reference ? map.values[Quantity::reference_rank]
                   : rank_at_entropy(reference, counterpart, target, options.analysed, at).rank;
}

/// Throws Error(usage) for a recorded layer without a temperature. The reference needs one unless
/// its own entropy is the target.
void check_temperatures(const Trace& reference, const Trace& other,
                        const ComparisonOptions& options) {
  for (const Trace* const trace : {&reference, &other}) {
    if (trace == &reference && *options.at_entropy == reference_entropy) continue;
    for (const MapIndex& place : recorded_maps(*trace, {})) check_temperature(*trace, place.layer);
  }
}

/// True if both subjects run the same weights, so that their channels correspond.
bool same_channels(const Subject& reference, const Subject& other) {
  if (!reference.model || !other.model) return false;
  return reference.model == other.model ||
         (!other.model->file().empty() && reference.model->file() == other.model->file());
}

void compare_cells(const Subject& reference, const Subject& other, const ComparisonOptions& options,
                   ComparedMap& compared) {
  const MatrixChoice& analysed = options.analysed;
  if (columns_of(analysed.of) == Extent::channels && !same_channels(reference, other)) {
    compared.state = MapPairState::other_channels;
    return;
  }
  const MatrixD map = analysed_matrix(other, {compared.layer, compared.head}, analysed).matrix;
  const MatrixD counterpart =
      analysed_matrix(reference, {compared.reference_layer, compared.reference_head}, analysed)
          .matrix;
  if (!map.allFinite() || !counterpart.allFinite()) {
    compared.state = MapPairState::not_finite;
    return;
  }
  if (map.rows() != counterpart.rows() || map.cols() != counterpart.cols()) {
    compared.state = MapPairState::different_size;
    return;
  }
  MapDistance distance = map_distance(map, counterpart);
  if (has_rows_of_weights(analysed)) {
    compared.row_divergence = std::move(distance.row_divergence);
    compared.rows_with_negatives = distance.rows_with_negatives;
    compared.values[Quantity::divergence] = distance.mean_divergence;
    compared.values[Quantity::largest_divergence] = distance.largest_divergence;
  }
  compared.values[Quantity::cosine_distance] = distance.cosine_distance;
  compared.values[Quantity::frobenius_distance] = distance.frobenius_distance;
  compared.values[Quantity::relative_frobenius] = distance.relative_frobenius;
}

ComparedLayer compare_layer(const Trace& reference, const Trace& other, std::int64_t layer,
                            std::int64_t reference_layer) {
  ComparedLayer compared;
  compared.layer = layer;
  compared.reference_layer = reference_layer;
  if (reference_layer < 0) {
    compared.why_no_cka = "the reference has no such layer";
    return compared;
  }
  const Tensor& own = other.layers[static_cast<std::size_t>(layer)].tokens;
  const Tensor& counterpart = reference.layers[static_cast<std::size_t>(reference_layer)].tokens;
  if (own.empty() || counterpart.empty()) {
    compared.why_no_cka = "the tokens were not recorded";
  } else if (own.extent(0) != counterpart.extent(0)) {
    compared.why_no_cka = std::to_string(own.extent(0)) + " tokens here, " +
                          std::to_string(counterpart.extent(0)) + " in the reference";
  } else {
    const double cka = linear_cka(own.matrix(), counterpart.matrix());
    compared.values[Quantity::cka] = cka;
    if (std::isnan(cka)) compared.why_no_cka = "tokens that are all alike, or not finite";
  }
  return compared;
}

/// Keeps the maps of `heads`. Throws Error(usage) for a head that no layer has.
void keep_heads(std::vector<MapIndex>& places, const std::vector<std::int64_t>& heads) {
  for (const std::int64_t head : heads) {
    if (std::ranges::find(places, head, &MapIndex::head) != places.end()) continue;
    throw Error(ErrorKind::usage, "no layer has this head")
        .about("--heads")
        .found(std::to_string(head));
  }
  std::erase_if(places, [&](const MapIndex& place) {
    return !heads.empty() && std::ranges::find(heads, place.head) == heads.end();
  });
}

/// Numbers and reasons of maps left out: "3 maps: the reference has no such map; 2 maps: maps of
/// different size".
std::string left_out_in_words(const std::vector<ComparedMap>& maps, const MatrixChoice& analysed) {
  const bool of_maps = analysed.of == MatrixKind::map;
  std::map<MapPairState, std::int64_t> counts;
  std::int64_t negative = 0;
  for (const ComparedMap& map : maps) {
    ++counts[map.state];
    negative += map.rows_with_negatives > 0 ? 1 : 0;
  }
  std::string text;
  const auto add = [&text, of_maps](std::int64_t count, std::string_view what) {
    if (count == 0) return;
    if (!text.empty()) text += "; ";
    const char* const noun =
        of_maps ? (count == 1 ? " map: " : " maps: ") : (count == 1 ? " matrix: " : " matrices: ");
    text += std::to_string(count) + noun + std::string(what);
  };
  add(counts[MapPairState::no_counterpart], describe(MapPairState::no_counterpart));
  if (counts[MapPairState::different_size] > 0) {
    add(counts[MapPairState::different_size],
        "different size, compared by spectrum and relative rank only");
  }
  add(counts[MapPairState::not_finite], describe(MapPairState::not_finite));
  if (counts[MapPairState::other_channels] > 0) {
    add(counts[MapPairState::other_channels], std::string(describe(MapPairState::other_channels)) +
                                                  ", compared by spectrum and relative rank only");
  }
  if (counts[MapPairState::compared] > 0 && !has_rows_of_weights(analysed)) {
    text += (text.empty() ? "" : "; ") +
            std::string("no divergences: rows are no distributions over keys");
  }
  add(negative, "negative weights, whose rows are taken by magnitude");
  return text;
}

}  // namespace

std::span<const ComparisonQuantityEntry> comparison_quantities() {
  static constexpr std::array<ComparisonQuantityEntry, comparison_quantity_count> list = {{
      {Quantity::divergence, "js_divergence_bits", "JS",
       "Jensen–Shannon divergence in bits, mean over rows: 0 for equal rows, 1 for rows that share "
       "no key"},
      {Quantity::largest_divergence, "largest_js_divergence_bits", "JS max",
       "Jensen–Shannon divergence in bits of the row where it is largest, 0 to 1"},
      {Quantity::cosine_distance, "cosine_distance", "1 − cos",
       "Cosine distance of the maps, 1 − ⟨A, B⟩ / (‖A‖ ‖B‖): 0 for proportional maps, to 2"},
      {Quantity::frobenius_distance, "frobenius_distance", "Frob.",
       "Frobenius distance of the maps, ‖A − B‖"},
      {Quantity::relative_frobenius, "relative_frobenius_distance", "rel. Frob.",
       "Frobenius distance as a share of the reference's norm, ‖A − B‖ / ‖B‖"},
      {Quantity::spectrum_distance, "spectrum_distance", "spectrum",
       "Area between the curves of cumulative singular values over relative rank, 0 to 1"},
      {Quantity::singular_value_distance, "singular_value_distance", "σ dist.",
       "Euclidean distance of the singular values, at most ‖A − B‖"},
      {Quantity::rank, "equivalent_rank", "rank", "Equivalent rank of the map"},
      {Quantity::reference_rank, "reference_equivalent_rank", "ref. rank",
       "Equivalent rank of the reference's map"},
      {Quantity::rank_difference, "rank_difference", "Δ rank",
       "Equivalent rank less the reference's"},
      {Quantity::rank_share_difference, "rank_share_difference", "Δ rank / N",
       "Equivalent rank as a share of the largest possible less the reference's, −1 to 1"},
      {Quantity::effective_rank_difference, "effective_rank_difference", "Δ eff. rank",
       "Effective rank less the reference's"},
      {Quantity::stable_rank_difference, "stable_rank_difference", "Δ stable rank",
       "Stable rank less the reference's"},
      {Quantity::cka, "cka", "CKA",
       "Linear centred kernel alignment of the tokens after the layer, 0 to 1: 1 for "
       "representations that differ by a rotation and a scale"},
      {Quantity::null_rank, "null_rank", "shuffled",
       "Equivalent rank with the map's rows shuffled, mean of 8; if asked for"},
      {Quantity::rank_over_null, "rank_over_null", "rank / null",
       "Equivalent rank over that of shuffled rows; if asked for"},
      {Quantity::reference_rank_over_null, "reference_rank_over_null", "ref. rank / null",
       "The same of the reference's map"},
      {Quantity::rank_at_entropy, "rank_at_entropy", "rank, same H",
       "Equivalent rank at the temperature at which the rows have the same mean entropy as the "
       "reference's; if asked for"},
      {Quantity::reference_rank_at_entropy, "reference_rank_at_entropy", "ref. rank, same H",
       "Equivalent rank of the reference's map at that entropy"},
      {Quantity::equal_entropy, "equal_entropy", "same H",
       "That entropy: mean over rows of H / ln n, n the keys that the query sees, 0 to 1"},
      {Quantity::equal_entropy_temperature, "equal_entropy_temperature", "T",
       "That temperature, which divides the scores of the compared map"},
  }};
  return list;
}

ComparisonValues::ComparisonValues() { values_.fill(std::numeric_limits<double>::quiet_NaN()); }

void ComparisonMean::add(const ComparisonValues& values) {
  for (std::size_t i = 0; i < comparison_quantity_count; ++i) {
    const double value = values[static_cast<Quantity>(i)];
    if (std::isnan(value)) continue;
    // Shifted by the first value, so that squares of nearly constant values keep their precision.
    if (counts_[i] == 0) first_[i] = value;
    sums_[i] += value - first_[i];
    squares_[i] += (value - first_[i]) * (value - first_[i]);
    ++counts_[i];
  }
}

ComparisonValues ComparisonMean::mean() const {
  ComparisonValues values;
  for (std::size_t i = 0; i < comparison_quantity_count; ++i) {
    if (counts_[i] == 0) continue;
    values[static_cast<Quantity>(i)] = first_[i] + sums_[i] / static_cast<double>(counts_[i]);
  }
  return values;
}

ComparisonValues ComparisonMean::standard_deviation() const {
  ComparisonValues values;
  for (std::size_t i = 0; i < comparison_quantity_count; ++i) {
    if (counts_[i] < 2) continue;
    const auto n = static_cast<double>(counts_[i]);
    const double variance = (squares_[i] - sums_[i] * sums_[i] / n) / (n - 1);
    values[static_cast<Quantity>(i)] = std::sqrt(std::max(0.0, variance));
  }
  return values;
}

void check_comparison(const ComparisonOptions& options) {
  const MatrixChoice& analysed = options.analysed;
  check_added(analysed);
  check_view(analysed);
  if (options.baselines) check_null_models(analysed);
  if (options.at_entropy) {
    const bool as_reference = *options.at_entropy == reference_entropy;
    check_equal_entropy(as_reference ? 0.5 : *options.at_entropy, analysed);
  }
  if (options.match_heads && is_of_layer(analysed.of)) {
    throw Error(ErrorKind::usage,
                "the analysed matrix is defined per layer, not per head: heads cannot be matched")
        .about(in_words(analysed));
  }
  if (!options.heads.empty() && is_of_layer(analysed.of)) {
    throw Error(ErrorKind::usage, "the analysed matrix is defined per layer, not per head")
        .about("--heads")
        .found(in_words(analysed));
  }
}

bool has_ranks_at_entropy(const Trace& other, const MatrixChoice& analysed) {
  if (!analysed.is_map()) return false;
  for (std::int64_t layer = 0; layer < std::ssize(other.layers); ++layer) {
    if (std::min(other.queries(layer), other.keys(layer)) > SpectrumOptions{}.dense_limit ||
        (other.heads(layer) > 0 && !has_temperature(other, layer))) {
      return false;
    }
  }
  return true;
}

SubjectComparison compare_traces(const Trace& reference, const Trace& other,
                                 const ComparisonOptions& options,
                                 const std::optional<MapAlignment>& alignment,
                                 const Progress& progress) {
  return compare_subjects(without_model(reference), without_model(other), options, alignment,
                          progress);
}

SubjectComparison compare_subjects(const Subject& reference_subject, const Subject& other_subject,
                                   const ComparisonOptions& options,
                                   const std::optional<MapAlignment>& alignment,
                                   const Progress& progress) {
  const Trace &reference = *reference_subject.trace, &other = *other_subject.trace;
  check_comparison(options);
  if (options.at_entropy) check_temperatures(reference, other, options);
  SubjectComparison result;
  result.options = options;
  MapAlignment& pairs = result.alignment;
  if (alignment) {
    pairs = *alignment;
  } else if (options.match_heads) {
    pairs = align_by_similarity(reference, other, options.layers,
                                head_costs(reference, other, options.layers,
                                           options.analysed.identity, progress.part(0, 0.3)));
  } else {
    pairs = align_by_index(reference, other, options.layers);
  }
  const Progress rest = progress.part(alignment || !options.match_heads ? 0 : 0.3, 1);
  SpectrumOptions spectrum_options;
  spectrum_options.threshold = options.threshold;
  const std::vector<MapSpectrum> reference_spectra =
      spectra_of(reference_subject, options.analysed, spectrum_options, rest.part(0, 0.4));
  const std::vector<MapSpectrum> spectra =
      spectra_of(other_subject, options.analysed, spectrum_options, rest.part(0.4, 0.8));

  std::vector<MapIndex> places = places_of(other, options.analysed, {});
  keep_heads(places, options.heads);
  result.maps.resize(places.size());
  for_each_map(
      other, places, rest.part(0.8, 1),
      [&](std::size_t index) {
        ComparedMap& map = result.maps[index];
        map.layer = places[index].layer;
        map.head = places[index].head;
        const LayerPair& pair = pairs.at(static_cast<std::size_t>(map.layer));
        map.reference_layer = pair.reference_layer;
        map.reference_head = map.head == kAllHeads
                                 ? kAllHeads
                                 : pair.reference_heads.at(static_cast<std::size_t>(map.head));
        const MapSpectrum* counterpart =
            spectrum_of_map(reference_spectra, map.reference_layer, map.reference_head);
        if (counterpart == nullptr) {
          map.state = MapPairState::no_counterpart;
        } else {
          compare_cells(reference_subject, other_subject, options, map);
          const MapSpectrum& own = *spectrum_of_map(spectra, map.layer, map.head);
          compare_spectra(own, *counterpart, map.values);
          if (options.baselines) {
            compare_with_null(reference, other, options, own, *counterpart, map.values);
          }
          if (options.at_entropy) compare_at_entropy(reference, other, options, map);
        }
        return [] {};
      },
      "maps compared");

  ComparisonMean all;
  for (std::size_t layer = 0; layer < pairs.size(); ++layer) {
    ComparedLayer compared = compare_layer(reference, other, static_cast<std::int64_t>(layer),
                                           pairs[layer].reference_layer);
    const double cka = compared.values[Quantity::cka];
    ComparisonMean heads;
    for (ComparedMap& map : result.maps) {
      if (map.layer != compared.layer) continue;
      heads.add(map.values);
      all.add(map.values);
      map.values[Quantity::cka] = cka;
      result.maps_compared += map.state == MapPairState::compared ? 1 : 0;
    }
    compared.values = heads.mean();
    compared.values[Quantity::cka] = cka;
    ComparisonValues only_cka;
    only_cka[Quantity::cka] = cka;
    all.add(only_cka);
    result.layers.push_back(std::move(compared));
  }
  result.mean = all.mean();
  result.summary = left_out_in_words(result.maps, options.analysed);
  return result;
}

std::string alignment_in_words(const ComparisonOptions& options) {
  return std::string(options.layers == LayerAlignment::by_index ? "layers by index"
                                                                : "layers by relative depth") +
         (is_of_layer(options.analysed.of)  ? ""
          : !options.match_heads            ? ", heads by index"
          : options.analysed.is_plain_map() ? ", heads matched by similarity"
                                            : ", heads matched by similarity of their maps");
}

}  // namespace attnscope
