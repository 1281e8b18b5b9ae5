#include "analysis/spectrum/estimated_spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/spectrum/leading_values.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/map_operator.h"
#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/trace_quadrature.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::int64_t kLeading = 32;   // number of leading values excluded from the estimate
constexpr double kWantedError = 0.003;  // wanted standard error relative to Σσ
// Share of ‖H‖²_F; below it values are found to rounding.
constexpr double kRestKnownRoughly = 1e-3;
// Largest computed map that is held in memory.
constexpr std::int64_t kMostHeldBytes = std::int64_t{128} << 20;
constexpr double kBearableError = 0.05;  // largest accepted standard error relative to Σσ

/// `count` descending values that are distributed like the nodes and sum to `total`.
std::vector<double> values_along(std::vector<std::pair<double, double>> nodes, std::int64_t count,
                                 double greatest, double total) {
  std::sort(nodes.begin(), nodes.end(), std::greater<>());
  double mass = 0;
  for (const auto& node : nodes) mass += node.second;
  std::vector<double> values(static_cast<std::size_t>(count));
  if (!(mass > 0)) return values;
  const double scale = static_cast<double>(count) / mass;
  // Each node lies in the middle of the values it represents; values are linear between nodes.
  double before = 0, place = 0, value = greatest, next_place = 0, next_value = greatest;
  std::size_t node = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    const double wanted = static_cast<double>(t) + 0.5;
    while (next_place < wanted && node < nodes.size()) {
      place = next_place;
      value = next_value;
      next_place = before + 0.5 * scale * nodes[node].second;
      next_value = nodes[node].first;
      before += scale * nodes[node].second;
      ++node;
    }
    const double part =
        next_place > place ? std::min(1.0, (wanted - place) / (next_place - place)) : 1.0;
    values[static_cast<std::size_t>(t)] = (1 - part) * value + part * next_value;
  }
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& one : values) one = sum > 0 ? std::min(one * total / sum, greatest) : 0;
  return values;
}

/// All values: the known ones, then `nodes` scaled to the sum `tail`.
std::vector<double> whole_spectrum(std::span<const double> known,
                                   const std::vector<std::pair<double, double>>& nodes,
                                   std::int64_t dimension, double tail) {
  std::vector<double> values(known.begin(), known.end());
  const double greatest = known.empty() ? nodes.empty() ? 0 : nodes.front().first : known.back();
  const std::vector<double> rest =
      values_along(nodes, dimension - std::ssize(known), greatest, tail);
  values.insert(values.end(), rest.begin(), rest.end());
  return values;
}

KnownOfRest known_of_rest(const SpectrumEstimate& estimate, const LeadingValues& leading) {
  double squares = estimate.frobenius_norm * estimate.frobenius_norm;
  for (const double value : leading.values) squares -= value * value;
  return {.squares = std::max(squares, 0.0),
          .frobenius = estimate.frobenius_norm,
          .known = std::accumulate(leading.values.begin(), leading.values.end(), 0.0)};
}

/// Sets the sums and probes of the estimate and returns the distance of the quadrature's rules; 0
/// if every value is known.
double estimate_rest(SpectrumEstimate& estimate, const MapOperator& map,
                     const LeadingValues& leading, const KnownOfRest& known) {
  estimate.nuclear_norm = known.known;
  if (estimate.known == estimate.dimension) return 0;  // nothing is left to probe
  TraceQuadrature rest = probe_rest(map, leading.right, known, kWantedError);
  estimate.nuclear_norm += rest.sum;
  estimate.standard_error = rest.standard_error;
  estimate.probes = std::move(rest.probes);
  return rest.rule_distance;
}

/// Sets the effective rank, exp(ln S − T / S) with S = Σσ and T = Σσ ln σ from the probes, and its
/// standard error by the delta method: that of the change of ln S − T / S in linear order. The
/// distance of the quadrature's rules, relative to S, is added, which bounds what the quadrature
/// leaves out of the entropy to about two standard errors.
void take_effective_rank(MapSpectrum& spectrum, SpectrumEstimate& estimate,
                         const LeadingValues& leading, const KnownOfRest& known,
                         double rule_distance) {
  if (estimate.probes.empty()) return;  // that of the values is exact
  const auto times_log = [](double value) { return value > 0 ? value * std::log(value) : 0.0; };
  const auto itself = [](double value) { return value; };
  const double sum = known.known + probed_sum(estimate.probes, known, itself).plain;
  double logs = probed_sum(estimate.probes, known, times_log).plain;
  for (const double value : leading.values) logs += times_log(value);
  const ProbedSum change = probed_sum(estimate.probes, known, [&](double value) {
    return (1 + logs / sum) / sum * value - times_log(value) / sum;
  });
  const double entropy = std::log(sum) - logs / sum + (change.mean - change.plain);
  spectrum.effective_rank =
      std::clamp(std::exp(entropy), 1.0, static_cast<double>(estimate.dimension));
  estimate.effective_rank_error =
      spectrum.effective_rank * (change.standard_error + rule_distance / sum);
}

double known_sum(const MapSpectrum& spectrum) {
  return std::accumulate(spectrum.singular_values.begin(),
                         spectrum.singular_values.begin() + spectrum.estimate->known, 0.0);
}

}  // namespace

double nuclear_norm(const MapSpectrum& spectrum) {
  if (spectrum.estimate) return spectrum.estimate->nuclear_norm;
  return std::accumulate(spectrum.singular_values.begin(), spectrum.singular_values.end(), 0.0);
}

RankInterval rank_interval(const MapSpectrum& spectrum, double threshold) {
  const std::vector<double>& values = spectrum.singular_values;
  const std::int64_t rank = equivalent_rank(values, threshold);
  if (!spectrum.estimate || spectrum.state != SpectrumState::ready) return {rank, rank, rank};
  const SpectrumEstimate& estimate = *spectrum.estimate;
  if (estimate.probes.empty()) return {rank, rank, rank};
  const std::span<const double> known(values.data(), static_cast<std::size_t>(estimate.known));
  const double head = known_sum(spectrum);
  // The spread of the ranks of single probes gives the uncertainty of their mean.
  double sum = 0, squares = 0;
  for (const auto& nodes : estimate.probes) {
    const auto one = static_cast<double>(equivalent_rank(
        whole_spectrum(known, nodes, estimate.dimension, sum_of_values(nodes)), threshold));
    sum += one;
    squares += one * one;
  }
  const auto count = static_cast<double>(estimate.probes.size());
  const double mean = sum / count;
  const double spread = std::sqrt(std::max(0.0, squares / count - mean * mean) / (count - 1));
  // A quadrature of few nodes does not resolve positions within a node's share.
  const double share = rank > estimate.known && !estimate.probes.front().empty()
                           ? static_cast<double>(estimate.dimension - estimate.known) /
                                 (2 * static_cast<double>(estimate.probes.front().size()))
                           : 0;
  const auto margin = static_cast<std::int64_t>(std::ceil(2 * spread + share));
  RankInterval interval{rank, rank - margin, rank + margin};
  // Bounds from descending σ for any curve beyond the known values: the rank is at least that with
  // all others equal to the last known value, and at most that with all others equal.
  const double error = 2 * estimate.standard_error;
  const double least = threshold * (estimate.nuclear_norm - error);
  const double most = threshold * (estimate.nuclear_norm + error);
  std::int64_t floor = estimate.known, ceiling = estimate.dimension;
  if (least <= head) {
    floor = equivalent_rank(known, std::min(1.0, least / head));
  } else if (!known.empty() && known.back() > 0) {
    floor += static_cast<std::int64_t>(std::ceil((least - head) / known.back()));
  }
  if (most <= head) ceiling = equivalent_rank(known, std::min(1.0, most / head));
  interval.low = std::clamp(interval.low, std::min(floor, rank), rank);
  interval.high = std::clamp(interval.high, rank, std::max(ceiling, rank));
  return interval;
}

namespace {

void check(Eigen::Index rows, Eigen::Index columns, double shift) {
  if (rows == 0 || columns == 0) {
    throw Error(ErrorKind::usage, "a map without entries has no spectrum");
  }
  if (shift != 0 && rows != columns) {
    throw Error(ErrorKind::usage, "I can be added to square maps only");
  }
}

/// Leading values that are excluded from the estimate: to 1e-6 σ_1, or to rounding if the rest is
/// so small that their errors would matter.
LeadingValues leading_part(const MapOperator& map, double squares) {
  if (map.columns() <= 2 * kLeading) return leading_values(map, map.columns());
  LeadingValues leading = leading_values(map, kLeading, LeadingAccuracy::estimate);
  double rest = squares;
  for (const double value : leading.values) rest -= value * value;
  return rest < kRestKnownRoughly * squares ? leading_values(map, kLeading) : leading;
}

MapSpectrum estimate(const MapOperator& map, const SpectrumOptions& options) {
  check_threshold(options.threshold);
  const MapOperator::Facts facts = map.facts();
  MapSpectrum spectrum;
  spectrum.method = SpectrumMethod::estimated;
  spectrum.threshold = options.threshold;
  spectrum.tokens = map.rows();
  spectrum.not_finite_entries = facts.not_finite_entries;
  spectrum.zero_rows = facts.zero_rows;
  const std::int64_t dimension = map.columns();
  if (facts.not_finite_entries > 0) {
    spectrum.state = SpectrumState::not_finite;
    return spectrum;
  }
  if (!(facts.squares > 0)) {
    spectrum.state = SpectrumState::zero;
    spectrum.singular_values.assign(static_cast<std::size_t>(dimension), 0);
    return spectrum;
  }
  auto found = std::make_shared<SpectrumEstimate>();
  found->frobenius_norm = std::sqrt(facts.squares);
  found->dimension = dimension;
  const LeadingValues leading = leading_part(map, facts.squares);
  found->known = std::ssize(leading.values);
  const KnownOfRest known = known_of_rest(*found, leading);
  const double rule_distance = estimate_rest(*found, map, leading, known);
  if (!(found->standard_error <= kBearableError * found->nuclear_norm)) {
    spectrum.state = SpectrumState::not_converged;
    return spectrum;
  }
  std::vector<std::pair<double, double>> all;
  for (const auto& nodes : found->probes) all.insert(all.end(), nodes.begin(), nodes.end());
  std::sort(all.begin(), all.end(), std::greater<>());
  const double tail = found->nuclear_norm - known.known;
  take_singular_values(spectrum, whole_spectrum(leading.values, all, dimension, tail));
  take_effective_rank(spectrum, *found, leading, known, rule_distance);
  spectrum.numerical_rank = 0;  // unknown: it depends on the smallest values
  spectrum.stable_rank = spectrum.rank_one_distance = spectrum.symmetry_error =
      std::numeric_limits<double>::quiet_NaN();
  if (!leading.values.empty()) {
    const double first = leading.values.front();
    spectrum.stable_rank = facts.squares / (first * first);
    spectrum.rank_one_distance = std::sqrt(std::max(0.0, 1 - first * first / facts.squares));
  }
  if (map.rows() == map.columns()) {
    spectrum.symmetry_error = facts.asymmetry / found->frobenius_norm;
  }
  spectrum.estimate = std::move(found);
  return spectrum;
}

}  // namespace

MapSpectrum estimated_spectrum(const ConstMatrixMap& map, double shift,
                               const SpectrumOptions& options) {
  check(map.rows(), map.cols(), shift);
  return estimate({map, shift}, options);
}

MapSpectrum estimated_spectrum(const ConstMatrixDMap& map, double shift,
                               const SpectrumOptions& options) {
  check(map.rows(), map.cols(), shift);
  return estimate({map, shift}, options);
}

MapSpectrum estimated_spectrum(const ImpliedMaps& maps, std::int64_t head, double shift,
                               const SpectrumOptions& options) {
  if (!maps.are_computed()) return estimated_spectrum(maps.slice(head), shift, options);
  const std::int64_t rows = maps.extent(1), columns = maps.extent(2);
  check(rows, columns, shift);
  if (rows * columns * 4 > kMostHeldBytes) return estimate({maps, head, shift}, options);
  const Matrix map = maps.head(head);
  return estimate({ConstMatrixMap(map.data(), rows, columns), shift}, options);
}

}  // namespace attnscope
