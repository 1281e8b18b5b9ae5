#include "analysis/spectrum/estimated_spectrum.h"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/spectrum/leading_values.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/map_operator.h"
#include "analysis/spectrum/rank.h"
#include "core/attention/random_parameters.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::int64_t kLeading = 32;      // values found exactly, and left out of the estimate
constexpr Eigen::Index kProbesAtOnce = 8;  // share every pass over the map
constexpr std::size_t kMostProbes = 32;
constexpr Eigen::Index kSteps = 48;      // of Lanczos: the quadrature errs by far less than 0.1 %
constexpr double kWantedError = 0.002;   // of Σσ
constexpr double kBearableError = 0.05;  // of Σσ: reached only where no leading values were found

/// x without its share in the columns of `basis`; twice, to rounding.
void orthogonalise(Eigen::VectorXd& x, const Eigen::Ref<const Eigen::MatrixXd>& basis) {
  for (int pass = 0; pass < 2 && basis.cols() > 0; ++pass) {
    x -= basis * (basis.transpose() * x);
  }
}

/// One probe's Golub–Kahan bidiagonalisation, fully reorthogonalised: Lanczos on HᵀH without
/// squaring H.
struct Bidiagonalisation {
  Eigen::MatrixXd right, left;  ///< [M, steps], [N, steps]
  std::vector<double> diagonal, above;
  Eigen::VectorXd next;  ///< the next right vector; empty once it has ended

  Bidiagonalisation(Eigen::VectorXd probe, Eigen::Index rows, const Eigen::MatrixXd& known)
      : right(probe.size(), kSteps), left(rows, kSteps) {
    orthogonalise(probe, known);
    const double length = probe.norm();
    if (length > 0) next = probe / length;
  }

  [[nodiscard]] Eigen::Index steps() const { return std::ssize(diagonal); }

  /// (σ, weight) of its quadrature, descending; the weights sum to `count`, of values.
  [[nodiscard]] std::vector<std::pair<double, double>> nodes(double count) const {
    const Eigen::Index size = steps();
    Eigen::MatrixXd b = Eigen::MatrixXd::Zero(size, size);
    for (Eigen::Index i = 0; i < size; ++i) {
      b(i, i) = diagonal[static_cast<std::size_t>(i)];
      if (i + 1 < size) b(i, i + 1) = above[static_cast<std::size_t>(i)];
    }
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(b, Eigen::ComputeThinV);
    std::vector<std::pair<double, double>> list;
    for (Eigen::Index i = 0; i < size; ++i) {
      const double first = svd.matrixV()(0, i);
      list.emplace_back(svd.singularValues()(i), count * first * first);
    }
    return list;
  }
};

/// Runs several probes side by side.
void bidiagonalise(std::vector<Bidiagonalisation>& probes, const MapOperator& map,
                   const Eigen::MatrixXd& known, double greatest) {
  const double nothing = 1e-13 * greatest;
  const auto count = static_cast<Eigen::Index>(probes.size());
  MatrixD x = MatrixD::Zero(map.columns(), count), y = MatrixD::Zero(map.rows(), count);
  for (Eigen::Index step = 0; step < kSteps; ++step) {
    for (Eigen::Index p = 0; p < count; ++p) {
      Bidiagonalisation& probe = probes[static_cast<std::size_t>(p)];
      x.col(p).setZero();
      if (probe.next.size() == 0) continue;
      x.col(p) = probe.right.col(step) = probe.next;
    }
    const MatrixD products = map.times(x);
    for (Eigen::Index p = 0; p < count; ++p) {
      Bidiagonalisation& probe = probes[static_cast<std::size_t>(p)];
      y.col(p).setZero();
      if (probe.next.size() == 0) continue;
      Eigen::VectorXd u = products.col(p);
      orthogonalise(u, probe.left.leftCols(step));
      const double length = u.norm();
      probe.diagonal.push_back(length);
      probe.left.col(step).setZero();
      if (length > nothing) y.col(p) = probe.left.col(step) = u / length;
    }
    const MatrixD back = map.times_transposed(y);
    for (Eigen::Index p = 0; p < count; ++p) {
      Bidiagonalisation& probe = probes[static_cast<std::size_t>(p)];
      if (probe.next.size() == 0) continue;
      Eigen::VectorXd v = back.col(p);
      orthogonalise(v, known);
      orthogonalise(v, probe.right.leftCols(step + 1));
      const double length = v.norm();
      probe.above.push_back(length);
      probe.next = length > nothing ? Eigen::VectorXd(v / length) : Eigen::VectorXd();
    }
  }
}

double moment(const std::vector<std::pair<double, double>>& nodes) {
  double sum = 0;
  for (const auto& [value, weight] : nodes) sum += value * weight;
  return sum;
}

/// `count` values, descending, that lie as the nodes say, and sum to `total`.
std::vector<double> values_along(std::vector<std::pair<double, double>> nodes, std::int64_t count,
                                 double greatest, double total) {
  std::sort(nodes.begin(), nodes.end(), std::greater<>());
  double mass = 0;
  for (const auto& node : nodes) mass += node.second;
  std::vector<double> values(static_cast<std::size_t>(count));
  if (!(mass > 0)) return values;
  const double scale = static_cast<double>(count) / mass;
  // Each node in the middle of what it stands for; straight lines between.
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

/// The whole curve when the tail is as `nodes` say.
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

void estimate_rest(SpectrumEstimate& estimate, const MapOperator& map,
                   const LeadingValues& leading) {
  const double known = std::accumulate(leading.values.begin(), leading.values.end(), 0.0);
  if (estimate.known == estimate.dimension) {  // nothing is left to probe
    estimate.nuclear_norm = known;
    return;
  }
  // Normal numbers point any way alike, also within what the known vectors leave: as unit vectors
  // they estimate a trace without bias, and that of I exactly.
  NormalNumbers normal(1, 0, 0);
  const auto others = static_cast<double>(estimate.dimension - estimate.known);
  while (estimate.probes.size() < kMostProbes) {
    std::vector<Bidiagonalisation> probes;
    for (Eigen::Index p = 0; p < kProbesAtOnce; ++p) {
      probes.emplace_back(Eigen::VectorXd(normal.matrix(map.columns(), 1)), map.rows(),
                          leading.right);
    }
    bidiagonalise(probes, map, leading.right, estimate.frobenius_norm);
    for (const Bidiagonalisation& probe : probes) estimate.probes.push_back(probe.nodes(others));
    double sum = 0, squares = 0;
    for (const auto& nodes : estimate.probes) {
      sum += moment(nodes);
      squares += moment(nodes) * moment(nodes);
    }
    const auto count = static_cast<double>(estimate.probes.size());
    const double mean = sum / count;
    const double variance = std::max(0.0, squares / count - mean * mean) / (count - 1);
    estimate.nuclear_norm = known + mean;
    estimate.standard_error = std::sqrt(variance);
    if (estimate.standard_error <= kWantedError * estimate.nuclear_norm) break;
  }
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
  // The spread of the ranks that single probes give says how sure their mean is.
  double sum = 0, squares = 0;
  for (const auto& nodes : estimate.probes) {
    const auto one = static_cast<double>(equivalent_rank(
        whole_spectrum(known, nodes, estimate.dimension, moment(nodes)), threshold));
    sum += one;
    squares += one * one;
  }
  const auto count = static_cast<double>(estimate.probes.size());
  const double mean = sum / count;
  const double spread = std::sqrt(std::max(0.0, squares / count - mean * mean) / (count - 1));
  // A quadrature of few nodes cannot tell where within a node's share a value lies.
  const double share = rank > estimate.known && !estimate.probes.front().empty()
                           ? static_cast<double>(estimate.dimension - estimate.known) /
                                 (2 * static_cast<double>(estimate.probes.front().size()))
                           : 0;
  const auto margin = static_cast<std::int64_t>(std::ceil(2 * spread + share));
  RankInterval interval{rank, rank - margin, rank + margin};
  // Whatever the curve's shape beyond the known values, σ falls: no fewer than if all others were
  // as large as the last known one, no more than if they were all alike.
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

template <class Map>
MapSpectrum estimate(const Map& map, double shift, const SpectrumOptions& options) {
  check_threshold(options.threshold);
  if (map.size() == 0) throw Error(ErrorKind::usage, "a map without entries has no spectrum");
  if (shift != 0 && map.rows() != map.cols()) {
    throw Error(ErrorKind::usage, "I can be added to square maps only");
  }
  const MapOperator operator_of_map(map, shift);
  const MapOperator::Facts facts = operator_of_map.facts();
  MapSpectrum spectrum;
  spectrum.method = SpectrumMethod::estimated;
  spectrum.threshold = options.threshold;
  spectrum.tokens = std::max(map.rows(), map.cols());
  spectrum.not_finite_entries = facts.not_finite_entries;
  spectrum.zero_rows = facts.zero_rows;
  const std::int64_t dimension = std::min(map.rows(), map.cols());
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
  const LeadingValues leading =
      leading_values(operator_of_map, dimension <= 2 * kLeading ? dimension : kLeading);
  found->known = std::ssize(leading.values);
  estimate_rest(*found, operator_of_map, leading);
  if (!(found->standard_error <= kBearableError * found->nuclear_norm)) {
    spectrum.state = SpectrumState::not_converged;
    return spectrum;
  }
  std::vector<std::pair<double, double>> all;
  for (const auto& nodes : found->probes) all.insert(all.end(), nodes.begin(), nodes.end());
  std::sort(all.begin(), all.end(), std::greater<>());
  const double tail =
      found->nuclear_norm - std::accumulate(leading.values.begin(), leading.values.end(), 0.0);
  take_singular_values(spectrum, whole_spectrum(leading.values, all, dimension, tail));
  spectrum.numerical_rank = 0;  // decided by the smallest values, which nobody has seen
  spectrum.stable_rank = spectrum.rank_one_distance = spectrum.symmetry_error =
      std::numeric_limits<double>::quiet_NaN();
  if (!leading.values.empty()) {
    const double first = leading.values.front();
    spectrum.stable_rank = facts.squares / (first * first);
    spectrum.rank_one_distance = std::sqrt(std::max(0.0, 1 - first * first / facts.squares));
  }
  if (map.rows() == map.cols()) {
    spectrum.symmetry_error = facts.asymmetry / found->frobenius_norm;
  }
  spectrum.estimate = std::move(found);
  return spectrum;
}

}  // namespace

MapSpectrum estimated_spectrum(const ConstMatrixMap& map, double shift,
                               const SpectrumOptions& options) {
  return estimate(map, shift, options);
}

MapSpectrum estimated_spectrum(const ConstMatrixDMap& map, double shift,
                               const SpectrumOptions& options) {
  return estimate(map, shift, options);
}

}  // namespace attnscope
