#include "analysis/spectrum/estimated_spectrum.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <tbb/parallel_for.h>
#include <utility>

#include "analysis/spectrum/leading_values.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/map_operator.h"
#include "analysis/spectrum/rank.h"
#include "core/attention/random_parameters.h"
#include "core/error.h"
#include "core/tensor/decompose.h"

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

/// Sum of σ, or of σ².
double total_of(std::span<const double> values, RankShare of) {
  return of == RankShare::energy
             ? std::inner_product(values.begin(), values.end(), values.begin(), 0.0)
             : std::accumulate(values.begin(), values.end(), 0.0);
}

/// Cumulative shares of σ² whose sum beyond the known values is known too, from ‖H‖_F.
std::vector<double> energy_share(std::span<const double> values, const SpectrumEstimate& estimate) {
  const auto known = static_cast<std::size_t>(estimate.known);
  const double whole = estimate.frobenius_norm * estimate.frobenius_norm;
  const double estimated = total_of(values.subspan(known), RankShare::energy);
  const double rest = std::max(0.0, whole - total_of(values.first(known), RankShare::energy));
  std::vector<double> share;
  double sum = 0;
  for (std::size_t t = 0; t < values.size(); ++t) {
    const double scale = t < known || estimated == 0 ? 1 : rest / estimated;
    share.push_back(std::min(1.0, (sum += scale * values[t] * values[t]) / whole));
  }
  return share;
}

constexpr Eigen::Index kProbesAtOnce = 16;  // number of probes that share each pass over the map
constexpr std::size_t kMostProbes = 32;
constexpr Eigen::Index kMostLanczosSteps = 80;  // maximum number of Lanczos steps
constexpr Eigen::Index kStepsBetween = 8;
// Minimum number of steps. Σσ of maps with I converges earlier, but the curve needs this many
// nodes: ranks of most of the values are then accurate to 1 %.
constexpr Eigen::Index kFewestLanczosSteps = 32;
// Largest distance of the Gauss and Radau rules, relative to Σσ, at which steps end.
constexpr double kBound = 4e-3;
// Accuracy of Σσ² of the rest, a difference of sums, relative to ‖H‖²_F.
constexpr double kSquaresKnown = 1e-12;

/// Removes the components of x in the columns of `basis`, to rounding: in a second pass if little
/// is left.
void orthogonalise(Eigen::Ref<Eigen::VectorXd> x, const Eigen::Ref<const Eigen::MatrixXd>& basis) {
  for (int pass = 0; pass < 2 && basis.cols() > 0; ++pass) {
    const double before = x.norm();
    x -= basis * (basis.transpose() * x);
    if (x.norm() > 0.5 * before) return;
  }
}

/// Golub–Kahan bidiagonalisation of one probe: Lanczos on HᵀH without squaring H. Right vectors are
/// kept orthogonal; left ones are then orthogonal to sufficient accuracy (Simon & Zha 2000).
struct Bidiagonalisation {
  Eigen::MatrixXd right;                ///< [M, steps]
  Eigen::VectorXd left;                 ///< last left vector; 0 if the process has ended
  std::vector<double> diagonal, above;  ///< entries of the bidiagonal matrix
  Eigen::VectorXd next;                 ///< next right vector; empty if the process has ended

  Bidiagonalisation(Eigen::VectorXd probe, Eigen::Index rows, const Eigen::MatrixXd& known)
      : right(probe.size(), kMostLanczosSteps), left(Eigen::VectorXd::Zero(rows)) {
    orthogonalise(probe, known);
    const double length = probe.norm();
    if (length > 0) next = probe / length;
  }

  [[nodiscard]] bool has_ended() const { return next.size() == 0; }

  /// Adds a left vector. `product` is H times the newest right vector; lengths up to `nothing` are
  /// rounding.
  void take_left(const Eigen::VectorXd& product, double nothing) {
    Eigen::VectorXd u = product;
    if (!above.empty()) u -= above.back() * left;
    const double length = u.norm();
    diagonal.push_back(length);
    left = length > nothing ? Eigen::VectorXd(u / length) : Eigen::VectorXd::Zero(u.size());
  }

  /// Adds a right vector. `product` is Hᵀ times the newest left vector; lengths up to `nothing` are
  /// rounding.
  void take_right(Eigen::VectorXd product, const Eigen::MatrixXd& known, double nothing) {
    orthogonalise(product, known);
    orthogonalise(product, right.leftCols(std::ssize(diagonal)));
    const double length = product.norm();
    above.push_back(length);
    next = length > nothing ? Eigen::VectorXd(product / length) : Eigen::VectorXd();
  }

  /// Gauss's rule, an upper bound for the concave √ of HᵀH's eigenvalues, and Radau's rule with a
  /// node at 0, a lower bound (Golub & Meurant 2010, § 6). The weights of each rule sum to
  /// `weight`.
  [[nodiscard]] std::pair<QuadratureNodes, QuadratureNodes> rules(double weight) const {
    if (diagonal.empty()) return {};  // the probe lies within the known vectors
    QuadratureNodes gauss = nodes_of(diagonal.back(), weight);
    if (has_ended()) return {gauss, gauss};  // Gauss's rule is then exact
    return {std::move(gauss), nodes_of(0, weight)};
  }

 private:
  /// Nodes with `last` as the last diagonal entry of the bidiagonal matrix B.
  [[nodiscard]] QuadratureNodes nodes_of(double last, double weight) const {
    const Eigen::Index size = std::ssize(diagonal);
    Eigen::VectorXd squares(size), products(size - 1);  // diagonal and neighbouring diagonal of BᵀB
    for (Eigen::Index i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double own = i + 1 < size ? diagonal[at] : last;
      const double before = i > 0 ? above[at - 1] : 0;
      squares(i) = own * own + before * before;
      if (i > 0) products(i - 1) = diagonal[at - 1] * before;
    }
    const Eigenpairs pairs = tridiagonal_eigenpairs(std::move(squares), std::move(products));
    QuadratureNodes list;
    for (Eigen::Index i = size - 1; i >= 0; --i) {
      const double first = pairs.vectors(0, i);
      list.emplace_back(std::sqrt(std::max(pairs.values(i), 0.0)), weight * first * first);
    }
    return list;
  }
};

/// Precision of products with the map.
struct Precision {
  bool rough = false;
  double nothing = 0;  ///< lengths up to this are rounding
};

/// Chooses float32 if its error, about 1e-7 ‖H‖_F, is small compared to the products of the rest.
Precision precision_for(const KnownOfRest& known, double values) {
  const double frobenius = known.frobenius;
  const bool rough = known.squares / values > 1e-10 * frobenius * frobenius;
  return {rough, (rough ? 1e-8 : 1e-13) * frobenius};
}

/// Performs one step of all probes together.
void step(std::vector<Bidiagonalisation>& probes, const MapOperator& map,
          const Eigen::MatrixXd& known, const Precision& precision) {
  const double nothing = precision.nothing;
  const auto count = std::ssize(probes);
  MatrixD x = MatrixD::Zero(map.columns(), count), y = MatrixD::Zero(map.rows(), count);
  for (std::ptrdiff_t p = 0; p < count; ++p) {
    Bidiagonalisation& probe = probes[static_cast<std::size_t>(p)];
    if (probe.has_ended()) continue;
    x.col(p) = probe.right.col(std::ssize(probe.diagonal)) = probe.next;
  }
  const MatrixD products = precision.rough ? map.times_roughly(x) : map.times(x);
  for (std::ptrdiff_t p = 0; p < count; ++p) {
    Bidiagonalisation& probe = probes[static_cast<std::size_t>(p)];
    if (probe.has_ended()) continue;
    probe.take_left(products.col(p), nothing);
    y.col(p) = probe.left;
  }
  const MatrixD back = precision.rough ? map.times_transposed_roughly(y) : map.times_transposed(y);
  tbb::parallel_for(std::ptrdiff_t{0}, count, [&](std::ptrdiff_t p) {
    Bidiagonalisation& probe = probes[static_cast<std::size_t>(p)];
    if (!probe.has_ended()) probe.take_right(back.col(p), known, nothing);
  });
}

/// Nodes of the probes, and a bound of the error of the mean of both rules.
struct Probed {
  std::vector<QuadratureNodes> nodes;
  double bound = 0;  ///< bound for Σσ, mean over the probes
};

/// Runs steps until the bound is small enough or kMostLanczosSteps is reached.
Probed run(std::vector<Bidiagonalisation>& probes, const MapOperator& map,
           const Eigen::MatrixXd& known, double values, const Precision& precision,
           double sum_of_known) {
  Probed probed;
  const auto count = static_cast<double>(probes.size());
  for (Eigen::Index steps = 1; steps <= kMostLanczosSteps; ++steps) {
    step(probes, map, known, precision);
    const bool all_ended = std::ranges::all_of(probes, &Bidiagonalisation::has_ended);
    if (!all_ended && (steps % kStepsBetween != 0 || steps < kFewestLanczosSteps)) continue;
    probed = {};
    double sum = sum_of_known;
    for (const Bidiagonalisation& probe : probes) {
      auto [gauss, radau] = probe.rules(values / 2);
      probed.bound += std::abs(sum_of_values(gauss) - sum_of_values(radau)) / count;
      gauss.insert(gauss.end(), radau.begin(), radau.end());
      std::ranges::sort(gauss, std::greater<>());
      sum += sum_of_values(gauss) / count;
      probed.nodes.push_back(std::move(gauss));
    }
    if (all_ended || probed.bound <= kBound * sum) break;
  }
  return probed;
}

/// Σ of σ² times its number of values.
double sum_of_squares(const QuadratureNodes& nodes) {
  double sum = 0;
  for (const auto& [value, weight] : nodes) sum += value * value * weight;
  return sum;
}

using NodeValue = std::function<double(double)>;

/// Regression slope of f(σ) over σ², weighted with all nodes: the error of a probe in Σ f(σ) per
/// error in Σσ².
double slope_of(const std::vector<QuadratureNodes>& probes, const NodeValue& f) {
  double mass = 0, first = 0, second = 0, third = 0, fourth = 0;
  for (const QuadratureNodes& nodes : probes) {
    for (const auto& [value, weight] : nodes) {
      const double square = value * value;
      mass += weight;
      first += weight * f(value);
      second += weight * square;
      third += weight * f(value) * square;
      fourth += weight * square * square;
    }
  }
  const double variance = fourth / mass - (second / mass) * (second / mass);
  const double covariance = third / mass - (first / mass) * (second / mass);
  return variance > 1e-12 * fourth / mass ? covariance / variance : 0;
}

struct MeanWithError {
  double mean = 0, error = 0;
};

/// Mean and standard error of Σ f(σ) − slope · (Σσ² − its known value) over the probes.
MeanWithError mean_of(const std::vector<QuadratureNodes>& probes, const NodeValue& f, double slope,
                      const KnownOfRest& known) {
  double sum = 0, squares = 0;
  for (const QuadratureNodes& nodes : probes) {
    double whole = 0;
    for (const auto& [value, weight] : nodes) whole += f(value) * weight;
    const double one = whole - slope * (sum_of_squares(nodes) - known.squares);
    sum += one;
    squares += one * one;
  }
  const auto count = static_cast<double>(probes.size());
  const double mean = sum / count;
  const double variance = std::max(0.0, squares / count - mean * mean) / (count - 1);
  const double uncertain = slope * kSquaresKnown * known.frobenius * known.frobenius;
  return {mean, std::sqrt(variance) + std::abs(uncertain)};
}

}  // namespace

double nuclear_norm(const MapSpectrum& spectrum) {
  if (spectrum.estimate) return spectrum.estimate->nuclear_norm;
  return std::accumulate(spectrum.singular_values.begin(), spectrum.singular_values.end(), 0.0);
}

std::vector<double> cumulative_share(const MapSpectrum& spectrum, RankShare of) {
  const bool rescaled = of == RankShare::energy && spectrum.estimate;
  return rescaled ? energy_share(spectrum.singular_values, *spectrum.estimate)
                  : cumulative_share(spectrum.singular_values, of);
}

std::int64_t equivalent_rank(const MapSpectrum& spectrum, const RankThreshold& threshold) {
  if (spectrum.equivalent_rank > 0 && threshold == spectrum.threshold) {
    return spectrum.equivalent_rank;
  }
  if (threshold.of != RankShare::energy || !spectrum.estimate) {
    return equivalent_rank(spectrum.singular_values, threshold);
  }
  return rank_of_share(cumulative_share(spectrum, threshold.of), threshold.level);
}

RankInterval rank_interval(const MapSpectrum& spectrum, const RankThreshold& threshold) {
  const std::vector<double>& values = spectrum.singular_values;
  const std::int64_t rank = equivalent_rank(spectrum, threshold);
  if (!spectrum.estimate || spectrum.state != SpectrumState::ready) return {rank, rank, rank};
  const SpectrumEstimate& estimate = *spectrum.estimate;
  if (estimate.probes.empty()) return {rank, rank, rank};
  const std::span<const double> known(values.data(), static_cast<std::size_t>(estimate.known));
  const bool of_squares = threshold.of == RankShare::energy;
  const double head = total_of(known, threshold.of);
  // The spread of the ranks of single probes gives the uncertainty of their mean.
  double sum = 0, squares = 0;
  for (const auto& nodes : estimate.probes) {
    const std::vector<double> probed =
        whole_spectrum(known, nodes, estimate.dimension, sum_of_values(nodes));
    const auto one = static_cast<double>(
        of_squares ? rank_of_share(energy_share(probed, estimate), threshold.level)
                   : equivalent_rank(probed, threshold));
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
  // ‖H‖_F² is known.
  const double whole =
      of_squares ? estimate.frobenius_norm * estimate.frobenius_norm : estimate.nuclear_norm;
  const double error = of_squares ? 0 : 2 * estimate.standard_error;
  const double least = threshold.level * (whole - error);
  const double most = threshold.level * (whole + error);
  const auto known_rank = [&](double sum_reached) {
    return equivalent_rank(known, {std::min(1.0, sum_reached / head), threshold.of});
  };
  std::int64_t floor = estimate.known, ceiling = estimate.dimension;
  if (least <= head) {
    floor = known_rank(least);
  } else if (!known.empty() && known.back() > 0) {
    const double last = of_squares ? known.back() * known.back() : known.back();
    floor += static_cast<std::int64_t>(std::ceil((least - head) / last));
  }
  if (most <= head) ceiling = known_rank(most);
  interval.low = std::clamp(interval.low, std::min(floor, rank), rank);
  interval.high = std::clamp(interval.high, rank, std::max(ceiling, rank));
  return interval;
}

namespace {

void check_map_size(Eigen::Index rows, Eigen::Index columns, double shift) {
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
  spectrum.equivalent_rank = equivalent_rank(spectrum, spectrum.threshold);
  return spectrum;
}

}  // namespace

MapSpectrum estimated_spectrum(const ConstMatrixMap& map, double shift,
                               const SpectrumOptions& options) {
  check_map_size(map.rows(), map.cols(), shift);
  return estimate({map, shift}, options);
}

MapSpectrum estimated_spectrum(const ConstMatrixDMap& map, double shift,
                               const SpectrumOptions& options) {
  check_map_size(map.rows(), map.cols(), shift);
  return estimate({map, shift}, options);
}

MapSpectrum estimated_spectrum(const ImpliedMaps& maps, std::int64_t head, double shift,
                               const SpectrumOptions& options) {
  if (!maps.are_computed()) return estimated_spectrum(maps.slice(head), shift, options);
  const std::int64_t rows = maps.extent(1), columns = maps.extent(2);
  check_map_size(rows, columns, shift);
  if (rows * columns * 4 > kMostHeldBytes) return estimate({maps, head, shift}, options);
  const Matrix map = maps.head(head);
  return estimate({ConstMatrixMap(map.data(), rows, columns), shift}, options);
}

double sum_of_values(const QuadratureNodes& nodes) {
  double sum = 0;
  for (const auto& [value, weight] : nodes) sum += value * weight;
  return sum;
}

ProbedSum probed_sum(const std::vector<QuadratureNodes>& probes, const KnownOfRest& known,
                     const std::function<double(double)>& f) {
  const MeanWithError plain = mean_of(probes, f, 0, known);
  const MeanWithError controlled = mean_of(probes, f, slope_of(probes, f), known);
  const MeanWithError& better = controlled.error < plain.error ? controlled : plain;
  return {plain.mean, better.mean, better.error};
}

TraceQuadrature probe_rest(const MapOperator& map, const Eigen::MatrixXd& leading,
                           const KnownOfRest& known, double wanted_error) {
  // Normal vectors are isotropic, also in the complement of the leading vectors: as unit vectors
  // they estimate traces without bias, and that of I exactly.
  NormalNumbers normal(1, 0, 0);
  const auto values = static_cast<double>(map.columns() - leading.cols());
  const Precision precision = precision_for(known, values);
  TraceQuadrature found;
  while (found.probes.size() < kMostProbes) {
    std::vector<Bidiagonalisation> probes;
    for (Eigen::Index p = 0; p < kProbesAtOnce; ++p) {
      probes.emplace_back(Eigen::VectorXd(normal.matrix(map.columns(), 1)), map.rows(), leading);
    }
    Probed probed = run(probes, map, leading, values, precision, known.known);
    found.rule_distance = std::max(found.rule_distance, probed.bound);
    std::ranges::move(probed.nodes, std::back_inserter(found.probes));
    const ProbedSum sum = probed_sum(found.probes, known, [](double value) { return value; });
    found.sum = std::max(sum.mean, 0.0);
    // Two standard errors must cover the distance of the rules.
    found.standard_error = sum.standard_error + found.rule_distance / 2;
    if (sum.standard_error <= wanted_error * (known.known + found.sum)) break;
  }
  return found;
}

}  // namespace attnscope
