#include "analysis/baselines/random_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/spectrum/map_batch.h"
#include "core/attention/random_parameters.h"

namespace attnscope {

namespace {

SeenKeys keys_seen_by(const RandomTokens& tokens) {
  return tokens.causal ? up_to_the_query(tokens.queries) : SeenKeys{};
}

double random_rank(const RandomTokens& tokens, RandomScores scores, std::int64_t draw,
                   bool identity, double entropy, const RankThreshold& threshold) {
  MatrixD map = random_token_map(tokens, scores, draw);
  if (!temper_to_entropy(entropy, keys_seen_by(tokens), map).reached) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (identity) map.diagonal().array() += 1;
  const MapSpectrum spectrum = spectrum_of_matrix(map, {.threshold = threshold});
  return spectrum.state == SpectrumState::ready ? static_cast<double>(spectrum.equivalent_rank)
                                                : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

MatrixD random_token_map(const RandomTokens& tokens, RandomScores scores, std::int64_t draw) {
  const MatrixD queries = NormalNumbers(draw, 0, 0).matrix(tokens.queries, tokens.width);
  const MatrixD keys = NormalNumbers(draw, 0, 1).matrix(tokens.keys, tokens.width);
  const auto width = static_cast<double>(tokens.width);
  MatrixD map(tokens.queries, tokens.keys);
  if (scores == RandomScores::softmax) {
    map.noalias() = queries * keys.transpose() / std::sqrt(width);
  } else {
    const double deviation = std::sqrt(2 * width * (1 - 2 / std::numbers::pi));
    for (Eigen::Index i = 0; i < map.rows(); ++i) {
      map.row(i) = (keys.rowwise() - queries.row(i)).rowwise().lpNorm<1>().transpose() / -deviation;
    }
  }
  for (Eigen::Index i = 0; i < map.rows(); ++i) {
    const Eigen::Index seen = tokens.causal ? i + 1 : map.cols();
    auto row = map.row(i).head(seen).array();
    row = (row - row.maxCoeff()).exp();
    row /= row.sum();
    map.row(i).tail(map.cols() - seen).setZero();
  }
  return map;
}

RandomTokenCurve random_token_curve(const RandomTokens& tokens, RandomScores scores, bool identity,
                                    std::span<const double> entropies, std::int64_t draws,
                                    const RankThreshold& threshold, const Progress& progress) {
  const auto each = static_cast<std::size_t>(draws);
  std::vector<double> ranks(entropies.size() * each);
  MapReports reports(progress, ranks.size(), "maps of random tokens");
  for_single_ones(ranks.size(), [&](std::size_t index) {
    ranks[index] = random_rank(tokens, scores, static_cast<std::int64_t>(index % each), identity,
                               entropies[index / each], threshold);
    reports.report([] {});
  });
  RandomTokenCurve curve;
  for (std::size_t at = 0; at < entropies.size(); ++at) {
    const auto first = ranks.begin() + static_cast<std::ptrdiff_t>(at * each);
    const auto end = first + static_cast<std::ptrdiff_t>(each);
    if (std::any_of(first, end, [](double rank) { return std::isnan(rank); })) continue;
    curve.entropy.push_back(entropies[at]);
    curve.rank.push_back(std::accumulate(first, end, 0.0) / static_cast<double>(each));
    curve.least.push_back(*std::min_element(first, end));
    curve.greatest.push_back(*std::max_element(first, end));
  }
  return curve;
}

}  // namespace attnscope
