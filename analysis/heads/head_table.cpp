#include "analysis/heads/head_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/baselines/null_model.h"
#include "analysis/heads/attention_chain.h"
#include "analysis/heads/row_weights.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/rank.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

// Positions of the queries and keys of one layer, for distances between them.

/// Positions of the last tokens of each side. The prefix tokens before them (class, distillation)
/// have no position.
struct TokenPlaces {
  std::string_view unit;  ///< "pixels", "patches", "tokens"; empty if there are no distances
  std::int64_t query_prefix = 0, key_prefix = 0;
  std::vector<std::pair<double, double>> queries, keys;  ///< (x, y) in `unit`
};

std::vector<std::pair<double, double>> middles(const TokenLayout& layout, double width,
                                               double height) {
  std::vector<std::pair<double, double>> places;
  for (std::int64_t row = 0; row < layout.rows; ++row) {
    for (std::int64_t column = 0; column < layout.columns; ++column) {
      places.emplace_back(
          (static_cast<double>(column) + 0.5) * width / static_cast<double>(layout.columns),
          (static_cast<double>(row) + 0.5) * height / static_cast<double>(layout.rows));
    }
  }
  return places;
}

/// True if queries and keys of the layer are the same tokens.
bool attends_to_itself(const Trace& trace, std::int64_t layer) {
  const LayerKind kind = trace.layers[static_cast<std::size_t>(layer)].kind;
  return trace.queries(layer) == trace.keys(layer) && kind != LayerKind::cross &&
         kind != LayerKind::class_attention;
}

/// True for self-attention over a sequence: no grid and no prefix tokens.
bool is_sequence(const Trace& trace, std::int64_t layer) {
  const TokenLayout& layout = query_layout(trace, layer);
  return attends_to_itself(trace, layer) && !layout.has_grid() && layout.prefix == 0;
}

/// Token indices of a sequence, or centres of the grid's cells in pixels of the trace's image (in
/// patches without an image); a reduced grid of keys covers the same image. Empty for attention
/// between two sequences.
TokenPlaces token_places(const Trace& trace, std::int64_t layer) {
  TokenPlaces places;
  const TokenLayout& queries = query_layout(trace, layer);
  const TokenLayout& keys = key_layout(trace, layer);
  if (is_sequence(trace, layer)) {
    places.unit = "tokens";
    for (std::int64_t token = 0; token < trace.queries(layer); ++token) {
      places.queries.emplace_back(static_cast<double>(token), 0);
    }
    places.keys = places.queries;
  } else if (queries.is_grid_of(trace.queries(layer)) && keys.is_grid_of(trace.keys(layer))) {
    const Image* const image = trace.image();
    places.unit = image != nullptr ? "pixels" : "patches";
    const auto width = static_cast<double>(image != nullptr ? image->width : queries.columns);
    const auto height = static_cast<double>(image != nullptr ? image->height : queries.rows);
    places.query_prefix = queries.prefix;
    places.key_prefix = keys.prefix;
    places.queries = middles(queries, width, height);
    places.keys = middles(keys, width, height);
  }
  return places;
}

/// Mean over queries of Σ_j a_ij |p_i − p_j|, with a restricted to keys with a position and divided
/// by its sum. Queries without position or such keys do not count. NaN if there are no distances.
double mean_distance(const RowWeights& weights, const TokenPlaces& places) {
  double sum = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < places.queries.size(); ++i) {
    const auto row = weights.matrix().row(places.query_prefix + static_cast<Eigen::Index>(i));
    double distance = 0, total = 0;
    for (std::size_t j = 0; j < places.keys.size(); ++j) {
      const double weight = row(places.key_prefix + static_cast<Eigen::Index>(j));
      total += weight;
      distance += weight * std::hypot(places.queries[i].first - places.keys[j].first,
                                      places.queries[i].second - places.keys[j].second);
    }
    if (!(total > 0)) continue;
    sum += distance / total;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : HeadRow::kUnknown;
}

/// Least number of patches that hold the share `mass` of the class token's attention on patches
/// (Caron et al. 2021). NaN without a class token or grid.
double patches_of_mass(const Trace& trace, std::int64_t layer, const RowWeights& weights,
                       double mass) {
  const TokenLayout& keys = key_layout(trace, layer);
  if (query_layout(trace, layer).prefix == 0 || !keys.is_grid_of(weights.matrix().cols())) {
    return HeadRow::kUnknown;
  }
  const auto row = weights.matrix().row(0);
  std::vector<double> patches(row.data() + keys.prefix, row.data() + row.size());
  std::sort(patches.begin(), patches.end(), std::greater<>());
  double total = 0;
  for (const double weight : patches) total += weight;
  if (!(total > 0)) return HeadRow::kUnknown;
  double sum = 0;
  for (std::size_t count = 0; count < patches.size(); ++count) {
    sum += patches[count];
    if (sum >= mass * total) return static_cast<double>(count + 1);
  }
  return static_cast<double>(patches.size());
}

void check_share(double share, bool may_be_one, const char* what) {
  if (share > 0 && (share < 1 || (may_be_one && share == 1))) return;
  throw Error(ErrorKind::usage, "a share is out of range")
      .about(what)
      .expected(may_be_one ? "above 0, at most 1" : "above 0, below 1")
      .found(exact(share));
}

/// The spectrum of a matrix that is not too large; empty if it has none.
std::optional<MapSpectrum> known_spectrum(MatrixD& matrix, const HeadOptions& options) {
  if (std::min(matrix.rows(), matrix.cols()) > SpectrumOptions{}.dense_limit) return std::nullopt;
  MapSpectrum spectrum = spectrum_of_matrix(matrix, {.threshold = options.threshold});
  if (spectrum.state != SpectrumState::ready) return std::nullopt;
  return spectrum;
}

/// Equivalent rank of the map without the columns of the sinks, rows divided by their sums.
double rank_without(const std::vector<Sink>& sinks, const RowWeights& weights,
                    const HeadOptions& options) {
  const MatrixD& all = weights.matrix();
  MatrixD rest(all.rows(), all.cols() - std::ssize(sinks));
  if (rest.size() == 0) return HeadRow::kUnknown;
  Eigen::Index column = 0;
  for (Eigen::Index key = 0; key < all.cols(); ++key) {
    const bool sink = std::ranges::any_of(sinks, [key](const Sink& one) { return one.key == key; });
    if (!sink) rest.col(column++) = all.col(key);
  }
  for (Eigen::Index query = 0; query < rest.rows(); ++query) {
    const double sum = rest.row(query).sum();
    if (sum > 0) rest.row(query) /= sum;
  }
  if (options.analysed.centred) take_mean_row_away(rest);
  const std::optional<MapSpectrum> spectrum = known_spectrum(rest, options);
  return spectrum ? static_cast<double>(spectrum->equivalent_rank) : HeadRow::kUnknown;
}

/// σ_2 / σ_1 of the map minus the even map. Unknown for a map that is even to the precision of
/// float32, whose difference is rounding.
double even_gap(const RowWeights& weights, const SeenKeys& seen, const HeadOptions& options) {
  const MatrixD& map = weights.matrix();
  MatrixD rest = map - even_map(map.rows(), map.cols(), seen);
  constexpr double kRounding = 0x1p-20;  // relative error of float32 weights and their sums
  if (!(rest.norm() > kRounding * map.norm())) return HeadRow::kUnknown;
  const std::optional<MapSpectrum> spectrum = known_spectrum(rest, options);
  return spectrum ? gap_ratio(spectrum->singular_values) : HeadRow::kUnknown;
}

void add_sinks(HeadRow& row, const RowWeights& weights, const HeadOptions& options) {
  const MatrixD& map = weights.matrix();
  const std::vector<double> shares = weights.sink_shares();
  row.sink = weights.strongest_sink();
  for (std::size_t key = 0; key < shares.size(); ++key) {
    if (shares[key] > options.sink) {
      row.sinks.push_back({static_cast<std::int64_t>(key), shares[key]});
    }
  }
  std::ranges::stable_sort(row.sinks,
                           [](const Sink& a, const Sink& b) { return a.share > b.share; });
  double sum = 0;
  Eigen::Index queries = 0;
  for (Eigen::Index query = 0; query < map.rows(); ++query) {
    if (!weights.attends(query)) continue;
    ++queries;
    for (const Sink& sink : row.sinks) sum += map(query, sink.key);
  }
  if (queries > 0) row.sink_share = sum / static_cast<double>(queries);
  // Only rows of plain maps are weights that can be divided by their sums.
  if (!options.analysed.is_map()) return;
  row.rank_without_sinks =
      row.sinks.empty() ? row.equivalent_rank : rank_without(row.sinks, weights, options);
}

void add_ranks(HeadRow& row, const Subject& subject, const HeadOptions& options) {
  const Trace& trace = *subject.trace;
  const bool few =
      std::min(trace.queries(row.layer), trace.keys(row.layer)) <= SpectrumOptions{}.dense_limit;
  // Only spectra of maps can be estimated.
  if (!few && !options.analysed.is_plain_map()) return;
  const MatrixChoice analysed = options.analysed.seen(IdentityView::without);
  const MapIndex place{row.layer, row.head};
  const MapSpectrum spectrum =
      spectrum_at(subject, place, analysed, {.threshold = options.threshold});
  if (spectrum.state != SpectrumState::ready) return;
  row.equivalent_rank = static_cast<double>(spectrum.equivalent_rank);
  if (options.baselines && few) {
    const NullRanks null = null_ranks_at(trace, place, analysed, {.threshold = options.threshold});
    if (null.known) row.null_rank = null.rank;
    row.rank_over_null = rank_over_null(spectrum, null);
  }
  if (spectrum.estimate) return;  // estimated spectra lack the sums of squares
  row.energy_rank =
      static_cast<double>(equivalent_rank(spectrum, {options.threshold.level, RankShare::energy}));
  row.gap = gap_ratio(spectrum.singular_values);
  row.participation_rank = participation_rank(spectrum.singular_values);
  row.entropy_rank = entropy_rank(spectrum.singular_values);
}

double largest_score(const Subject& subject, const MapIndex& place, const SeenKeys& seen) {
  if (!has_scores(*subject.trace, place.layer)) return HeadRow::kUnknown;
  const MatrixD scores = analysed_matrix(subject, place, {.of = MatrixKind::scores}).matrix;
  double largest = HeadRow::kUnknown;
  for (Eigen::Index query = 0; query < scores.rows(); ++query) {
    for (const std::int64_t key : seen.keys_of(query, scores.cols())) {
      largest = std::fmax(largest, scores(query, key));
    }
  }
  return largest;
}

void add_norms(HeadRow& row, const Trace& trace) {
  const LayerTrace& layer = trace.layers[static_cast<std::size_t>(row.layer)];
  const std::int64_t heads = trace.heads(row.layer);
  if (!fit_heads(layer.values, heads, trace.keys(row.layer))) return;
  const std::int64_t own = layer.values.extent(0);
  const MatrixD values = layer.values.slice(row.head * own / heads).cast<double>();
  row.value_norm = values.rowwise().norm().mean();
  // Maps per channel: one channel's map times all values is not the head's output.
  if (trace.map_channels > 1) return;
  const MatrixD outputs = map_seen(trace, {row.layer, row.head}, IdentityView::as_is) * values;
  row.output_norm = outputs.rowwise().norm().mean();
}

/// Induction score of a text whose tokens are known; otherwise NaN.
double induction_score(const RowWeights& weights, const std::vector<std::string>& texts) {
  const MatrixD& map = weights.matrix();
  if (std::ssize(texts) != map.rows() || std::ssize(texts) != map.cols()) return HeadRow::kUnknown;
  double sum = 0;
  Eigen::Index counted = 0;
  for (Eigen::Index query = 1; query < map.rows(); ++query) {
    if (!weights.attends(query)) continue;
    double induced = 0;
    bool any = false;
    for (Eigen::Index key = 1; key <= query; ++key) {
      if (texts[static_cast<std::size_t>(key - 1)] != texts[static_cast<std::size_t>(query)]) {
        continue;
      }
      any = true;
      induced += map(query, key);
    }
    if (!any) continue;
    sum += induced;
    ++counted;
  }
  return counted > 0 ? sum / static_cast<double>(counted) : HeadRow::kUnknown;
}

/// Numbers of self-attention as a chain of steps from token to token.
void add_chain(HeadRow& row, const RowWeights& weights) {
  const MatrixD& map = weights.matrix();
  if (map.rows() != map.cols()) return;
  for (Eigen::Index query = 0; query < map.rows(); ++query) {
    if (!weights.attends(query)) return;
  }
  row.second_eigenvalue = second_eigenvalue(map, row.causal);
  row.stationary = token_rank(map).maxCoeff();
  if (map.diagonal().minCoeff() > 0) row.log_diagonal = mean_log_diagonal(map);
  if (row.causal) row.laplacian = greatest_laplacian_eigenvalue(map);
}

/// How the tokens after a text's last picture attend to its pictures.
void add_pictures(HeadRow& row, const RowWeights& weights, const std::vector<TokenCells>& pictures,
                  const HeadOptions& options) {
  const MatrixD& map = weights.matrix();
  const std::int64_t end = pictures.empty() ? 0 : pictures.back().end();
  if (pictures.empty() || end >= map.rows() || end > map.cols()) return;
  std::int64_t queries = 0;
  for (Eigen::Index query = end; query < map.rows(); ++query) {
    queries += weights.attends(query) ? 1 : 0;
  }
  if (queries == 0) return;
  std::vector<std::int64_t> tokens;
  const auto after = Eigen::seq(end, map.rows() - 1);
  for (const TokenCells& picture : pictures) {
    const std::vector<std::int64_t> own = picture.tokens();
    tokens.insert(tokens.end(), own.begin(), own.end());
    if (pictures.size() == 1) continue;
    row.picture_shares.push_back(map(after, own).sum() / static_cast<double>(queries));
  }
  MatrixD block = map(after, tokens);
  row.picture_share = block.sum() / static_cast<double>(queries);
  if (!options.analysed.is_map()) return;
  if (options.analysed.centred) take_mean_row_away(block);
  const std::optional<MapSpectrum> spectrum = known_spectrum(block, options);
  if (spectrum) row.picture_rank = static_cast<double>(spectrum->equivalent_rank);
}

HeadRow head_row(const Subject& subject, const MapIndex& place, const TokenPlaces& places,
                 const HeadOptions& options) {
  const Trace& trace = *subject.trace;
  HeadRow row;
  row.layer = place.layer;
  row.head = place.head;
  MatrixD map = map_seen(trace, place, IdentityView::without);
  row.identity_removed = has_identity(trace, place.layer);
  row.state = state_of(map);
  if (row.state == HeadState::not_finite) return row;
  add_norms(row, trace);
  if (row.state == HeadState::zero) return row;
  add_ranks(row, subject, options);
  if (row.state == HeadState::negative) return row;
  const SeenKeys seen = seen_keys(trace.layers[static_cast<std::size_t>(place.layer)], map);
  const RowWeights weights(std::move(map), seen);
  row.causal = weights.causal();
  row.entropy = weights.entropy();
  row.normalised_entropy = weights.normalised_entropy();
  add_sinks(row, weights, options);
  row.even_gap = even_gap(weights, seen, options);
  row.largest_score = largest_score(subject, place, seen);
  if (!places.unit.empty()) row.distance = mean_distance(weights, places);
  row.first_token = weights.mean_weight(0, [](Eigen::Index) { return Eigen::Index{0}; });
  if (attends_to_itself(trace, place.layer)) {
    row.diagonal = weights.mean_weight(0, [](Eigen::Index query) { return query; });
    if (weights.matrix().rows() <= SpectrumOptions{}.dense_limit) add_chain(row, weights);
  }
  if (is_sequence(trace, place.layer)) {
    row.previous_token = weights.mean_weight(1, [](Eigen::Index query) { return query - 1; });
    row.induction =
        induction_score(weights, trace.layers[static_cast<std::size_t>(place.layer)].layout.texts);
  }
  row.mass_patches = patches_of_mass(trace, place.layer, weights, options.mass);
  if (attends_to_itself(trace, place.layer)) {
    add_pictures(row, weights, query_layout(trace, place.layer).pictures, options);
  }
  return row;
}

constexpr HeadMeasure kMeasures[] = {
    {"entropy", "entropy", "entropy (nats)", "H = mean over i of -Σ_j a_ij ln a_ij", 2,
     &HeadRow::entropy},
    {"normalised_entropy", "H/ln n", "entropy / ln n",
     "mean over i of H_i / ln n, n the keys that the mask and windows let query i see", 3,
     &HeadRow::normalised_entropy},
    {"sink", "sink α", "strongest sink α",
     "greatest α_k = Σ_i a_ik / (queries that see k), of keys that 8 queries see (Gu et al. 2024)",
     3, &HeadRow::sink},
    {"sink_share", "in sinks", "attention on sinks",
     "mean over i of Σ a_ik over the sinks, keys with α_k > ε", 3, &HeadRow::sink_share},
    {"equivalent_rank", "rank", "equivalent rank",
     "smallest r whose σ_1 … σ_r hold the share τ of Σσ, or of Σσ² on request", 0,
     &HeadRow::equivalent_rank},
    {"null_rank", "shuffled", "equivalent rank if shuffled",
     "equivalent rank with each row's weights in another order, mean of 8", 1, &HeadRow::null_rank},
    {"rank_over_null", "rank/null", "equivalent rank / null", "rank over that of shuffled rows", 3,
     &HeadRow::rank_over_null},
    {"rank_without_sinks", "no sinks", "equivalent rank without sinks",
     "equivalent rank without the sinks' columns, rows divided by their sums", 0,
     &HeadRow::rank_without_sinks},
    {"energy_rank", "rank of σ²", "rank of squared values",
     "smallest r with Σ_{t≤r} σ_t² / Σ σ_t² ≥ τ", 0, &HeadRow::energy_rank},
    {"gap", "σ₂/σ₁", "σ₂/σ₁", "second greatest singular value over the greatest", 3, &HeadRow::gap},
    {"even_gap", "σ₂/σ₁ - U", "σ₂/σ₁ without the even map",
     "σ₂/σ₁ of A - U, U with equal weights on the keys that the query sees (Nait Saada et al. "
     "2024)",
     3, &HeadRow::even_gap},
    {"participation_rank", "partic.", "participation rank", "(Σσ²)² / Σσ⁴", 2,
     &HeadRow::participation_rank},
    {"entropy_rank", "entr. rank", "entropy rank", "exp(-Σ p ln p), p = σ² / Σσ²", 2,
     &HeadRow::entropy_rank},
    {"largest_score", "max score", "largest score",
     "greatest score over the keys that each query sees, before bias, mask and cap", 2,
     &HeadRow::largest_score},
    {"second_eigenvalue", "|λ₂|", "second eigenvalue |λ₂|",
     "second greatest modulus of the eigenvalues of a, the speed at which its powers approach "
     "equal "
     "rows (Erel et al. 2025)",
     3, &HeadRow::second_eigenvalue},
    {"stationary", "max π", "greatest stationary share",
     "greatest π_i of π = π(αa + (1 - α)/N 11ᵀ), α = 0.99 (TokenRank, Erel et al. 2025)", 3,
     &HeadRow::stationary},
    {"log_diagonal", "ln a_ii", "mean of ln a_ii",
     "mean of ln a_ii, if a is causal ln det a / N (Sriramanan et al. 2024)", 2,
     &HeadRow::log_diagonal},
    {"laplacian", "Laplacian", "greatest Laplacian eigenvalue",
     "greatest Σ_u a_ui / (N - i) - a_ii of a causal map, i from 0 (Binkowski et al. 2025)", 3,
     &HeadRow::laplacian},
    {"distance", "distance", "mean attention distance",
     "mean over i of Σ_j a_ij |p_i - p_j|; on a grid of patches without other tokens, rows divided "
     "by their sums (Dosovitskiy et al. 2021)",
     2, &HeadRow::distance},
    {"diagonal", "diagonal", "attention on the diagonal",
     "mean of a_ii over queries that see other keys too", 3, &HeadRow::diagonal},
    {"previous_token", "previous", "attention to the previous token", "mean of a_i,i-1 over i ≥ 1",
     3, &HeadRow::previous_token},
    {"induction", "induct", "induction score",
     "mean over i of Σ_j a_ij, j ≤ i after a token that says what i says", 3, &HeadRow::induction},
    {"first_token", "first", "attention to the first token",
     "mean of a_i0 over queries that see other keys too", 3, &HeadRow::first_token},
    {"mass_patches", "patches", "patches of the class row's mass",
     "fewest patches that hold the mass of the class token's attention to patches (Caron et al. "
     "2021)",
     0, &HeadRow::mass_patches},
    {"picture_share", "picture", "attention on the picture",
     "mean over i of Σ_j a_ij, i the tokens after a text's pictures, j those of the pictures", 3,
     &HeadRow::picture_share},
    {"picture_rank", "pict. rank", "equivalent rank of the picture's block",
     "equivalent rank of a_ij, i the tokens after a text's pictures, j those of the pictures", 0,
     &HeadRow::picture_rank},
    {"value_norm", "|v|", "norm of values", "mean over j of the Euclidean norm of v_j", 2,
     &HeadRow::value_norm},
    {"output_norm", "|Av|", "norm of head outputs",
     "mean over i of the Euclidean norm of Σ_j w_ij v_j, w the map as it is used", 2,
     &HeadRow::output_norm}};

}  // namespace

std::string_view describe(HeadState state) {
  switch (state) {
    case HeadState::ready:
      return "ready";
    case HeadState::negative:
      return "negative weights";
    case HeadState::zero:
      return "all zero";
    case HeadState::not_finite:
      return "NaN or Inf in the map";
  }
  return "";
}

std::span<const HeadMeasure> head_measures() { return kMeasures; }

const HeadMeasure& head_measure(std::string_view name) {
  for (const HeadMeasure& measure : kMeasures) {
    if (measure.name == name) return measure;
  }
  throw unknown_name("measure of heads", name, name_list(head_measures(), &HeadMeasure::name));
}

bool is_rank(const HeadMeasure& measure) {
  constexpr double HeadRow::*ranks[] = {&HeadRow::equivalent_rank,    &HeadRow::null_rank,
                                        &HeadRow::rank_over_null,     &HeadRow::rank_without_sinks,
                                        &HeadRow::energy_rank,        &HeadRow::gap,
                                        &HeadRow::participation_rank, &HeadRow::entropy_rank};
  return std::ranges::find(ranks, measure.value) != std::end(ranks);
}

std::string heading_of(const HeadMeasure& measure, const MatrixChoice& analysed) {
  const std::string heading(measure.heading);
  const bool of_others = is_rank(measure) && !analysed.is_plain_map();
  return of_others ? heading + " of " + short_words(analysed) : heading;
}

std::string formula_of(const HeadMeasure& measure, const MatrixChoice& analysed) {
  const std::string formula(measure.formula);
  const bool of_others = is_rank(measure) && !analysed.is_plain_map();
  return of_others ? formula + "; of the " + in_words(analysed) : formula;
}

std::string title_of(const HeadMeasure& measure, const std::string& distance_unit,
                     const MatrixChoice& analysed) {
  const std::string title(measure.title);
  if (is_rank(measure) && !analysed.is_plain_map()) return title + " of " + short_words(analysed);
  const bool in_unit = measure.value == &HeadRow::distance && !distance_unit.empty();
  return in_unit ? title + " (" + distance_unit + ")" : title;
}

std::vector<SinkCount> sink_counts(const HeadTable& table, std::int64_t& of) {
  std::map<std::int64_t, std::int64_t> heads;
  of = 0;
  for (const HeadRow& row : table.rows) {
    of += row.state == HeadState::ready ? 1 : 0;
    for (const Sink& sink : row.sinks) ++heads[sink.key];
  }
  std::vector<SinkCount> counts;
  counts.reserve(heads.size());
  for (const auto& [key, count] : heads) counts.push_back({key, count});
  std::ranges::stable_sort(
      counts, [](const SinkCount& a, const SinkCount& b) { return a.heads > b.heads; });
  return counts;
}

HeadTable head_table(const Trace& trace, const HeadOptions& options, const Progress& progress) {
  return head_table(without_model(trace), options, progress);
}

HeadTable head_table(const Subject& subject, const HeadOptions& options, const Progress& progress) {
  const Trace& trace = *subject.trace;
  check_threshold(options.threshold);
  check_share(options.sink, false, "sink");
  check_share(options.mass, true, "mass");
  check_added(options.analysed);
  if (options.baselines) check_null_models(options.analysed);
  if (is_of_layer(options.analysed.of)) {
    throw Error(ErrorKind::usage, "the analysed matrix is defined per layer, not per head")
        .about(in_words(options.analysed))
        .remedy("attnscope spectrum --of " +
                std::string(name_of(matrix_kind_names, options.analysed.of)));
  }
  const std::vector<MapIndex> maps = recorded_maps(trace, options.layers);
  std::map<std::int64_t, TokenPlaces> places;
  HeadTable table;
  table.analysed = options.analysed;
  for (const MapIndex& map : maps) {
    if (places.contains(map.layer)) continue;
    const TokenPlaces& own = places[map.layer] = token_places(trace, map.layer);
    if (table.distance_unit.empty()) table.distance_unit = own.unit;
  }
  table.rows.resize(maps.size());
  for_each_map(
      trace, maps, progress,
      [&](std::size_t index) {
        const TokenPlaces& own = places.at(maps[index].layer);
        // A table has one unit: distances of layers with another unit stay unknown.
        const bool same = own.unit == table.distance_unit;
        table.rows[index] = head_row(subject, maps[index], same ? own : TokenPlaces{}, options);
        return [] {};
      },
      "heads");
  return table;
}

}  // namespace attnscope
