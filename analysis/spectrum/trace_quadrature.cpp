#include "analysis/spectrum/trace_quadrature.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/attention/random_parameters.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

constexpr Eigen::Index kProbesAtOnce = 16;  // share every pass over the map
constexpr std::size_t kMostProbes = 32;
constexpr Eigen::Index kMostLanczosSteps = 80;  // of Lanczos
constexpr Eigen::Index kStepsBetween = 8;
// Where Σσ is known before, as of maps with I, the curve between so few nodes is not: a rank of
// most of the values then lies within 1 %.
constexpr Eigen::Index kFewestLanczosSteps = 32;
// Of Σσ: steps are taken until the rules leave the truth less room.
constexpr double kBound = 4e-3;
// Of ‖H‖²_F: how well Σσ² of the rest is known, a difference of sums.
constexpr double kSquaresKnown = 1e-12;

/// x without its share in the columns of `basis`, to rounding: a second time where little is left.
void orthogonalise(Eigen::Ref<Eigen::VectorXd> x, const Eigen::Ref<const Eigen::MatrixXd>& basis) {
  for (int pass = 0; pass < 2 && basis.cols() > 0; ++pass) {
    const double before = x.norm();
    x -= basis * (basis.transpose() * x);
    if (x.norm() > 0.5 * before) return;
  }
}

/// One probe's Golub–Kahan bidiagonalisation: Lanczos on HᵀH without squaring H. The right vectors
/// are kept orthogonal; the left ones are so to what that is worth (Simon & Zha 2000).
struct Bidiagonalisation {
  Eigen::MatrixXd right;                ///< [M, steps]
  Eigen::VectorXd left;                 ///< the last one; 0 where it has ended
  std::vector<double> diagonal, above;  ///< of the bidiagonal matrix
  Eigen::VectorXd next;                 ///< the next right vector; empty once it has ended

  Bidiagonalisation(Eigen::VectorXd probe, Eigen::Index rows, const Eigen::MatrixXd& known)
      : right(probe.size(), kMostLanczosSteps), left(Eigen::VectorXd::Zero(rows)) {
    orthogonalise(probe, known);
    const double length = probe.norm();
    if (length > 0) next = probe / length;
  }

  [[nodiscard]] bool has_ended() const { return next.size() == 0; }

  /// `product` is H times the newest right vector.
  void take_left(const Eigen::VectorXd& product, double nothing) {
    Eigen::VectorXd u = product;
    if (!above.empty()) u -= above.back() * left;
    const double length = u.norm();
    diagonal.push_back(length);
    left = length > nothing ? Eigen::VectorXd(u / length) : Eigen::VectorXd::Zero(u.size());
  }

  /// `product` is Hᵀ times the newest left vector.
  void take_right(Eigen::VectorXd product, const Eigen::MatrixXd& known, double nothing) {
    orthogonalise(product, known);
    orthogonalise(product, right.leftCols(std::ssize(diagonal)));
    const double length = product.norm();
    above.push_back(length);
    next = length > nothing ? Eigen::VectorXd(product / length) : Eigen::VectorXd();
  }

  /// Gauss's rule, which gives too much for the concave √ of HᵀH's eigenvalues, and Radau's with a
  /// node at 0, which gives too little (Golub & Meurant 2010, § 6): the truth lies between. Both of
  /// `weight`, together.
  [[nodiscard]] std::pair<QuadratureNodes, QuadratureNodes> rules(double weight) const {
    if (diagonal.empty()) return {};  // nothing of the probe lay outside the known
    QuadratureNodes gauss = nodes_of(diagonal.back(), weight);
    if (has_ended()) return {gauss, gauss};  // and is exact
    return {std::move(gauss), nodes_of(0, weight)};
  }

 private:
  /// With `last` at the end of the diagonal of the bidiagonal matrix B.
  [[nodiscard]] QuadratureNodes nodes_of(double last, double weight) const {
    const Eigen::Index size = std::ssize(diagonal);
    Eigen::VectorXd squares(size), products(size - 1);  // of BᵀB
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

/// How the map is multiplied, and what is nothing then.
struct Precision {
  bool rough = false;
  double nothing = 0;  ///< lengths that are rounding
};

/// float32 does where what it errs, about 1e-7 ‖H‖_F, is little beside the products of the rest.
Precision precision_for(const KnownOfRest& known, double values) {
  const double frobenius = known.frobenius;
  const bool rough = known.squares / values > 1e-10 * frobenius * frobenius;
  return {rough, (rough ? 1e-8 : 1e-13) * frobenius};
}

/// One step of all probes, side by side.
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

/// What probes say, and how far the truth may lie from the mean of both rules.
struct Probed {
  std::vector<QuadratureNodes> nodes;
  double bound = 0;  ///< of Σσ, the mean over the probes
};

/// As many steps as it takes.
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

/// Σ of σ² times how many.
double sum_of_squares(const QuadratureNodes& nodes) {
  double sum = 0;
  for (const auto& [value, weight] : nodes) sum += value * value * weight;
  return sum;
}

/// The slope of σ over σ², each value as often as all nodes together say: what a probe errs in Σσ
/// for what it errs in Σσ².
double slope_of(const std::vector<QuadratureNodes>& probes) {
  double mass = 0, first = 0, second = 0, third = 0, fourth = 0;
  for (const QuadratureNodes& nodes : probes) {
    for (const auto& [value, weight] : nodes) {
      const double square = value * value;
      mass += weight;
      first += weight * value;
      second += weight * square;
      third += weight * value * square;
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

/// Of Σσ − slope · (Σσ² − what that is known to be).
MeanWithError mean_of(const std::vector<QuadratureNodes>& probes, double slope,
                      const KnownOfRest& known) {
  double sum = 0, squares = 0;
  for (const QuadratureNodes& nodes : probes) {
    const double one = sum_of_values(nodes) - slope * (sum_of_squares(nodes) - known.squares);
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

double sum_of_values(const QuadratureNodes& nodes) {
  double sum = 0;
  for (const auto& [value, weight] : nodes) sum += value * weight;
  return sum;
}

TraceQuadrature probe_rest(const MapOperator& map, const Eigen::MatrixXd& leading,
                           const KnownOfRest& known, double wanted_error) {
  // Normal numbers point any way alike, also within what the leading vectors leave: as unit vectors
  // they estimate a trace without bias, and that of I exactly.
  NormalNumbers normal(1, 0, 0);
  const auto values = static_cast<double>(map.columns() - leading.cols());
  const Precision precision = precision_for(known, values);
  double bound = 0;
  TraceQuadrature found;
  while (found.probes.size() < kMostProbes) {
    std::vector<Bidiagonalisation> probes;
    for (Eigen::Index p = 0; p < kProbesAtOnce; ++p) {
      probes.emplace_back(Eigen::VectorXd(normal.matrix(map.columns(), 1)), map.rows(), leading);
    }
    Probed probed = run(probes, map, leading, values, precision, known.known);
    bound = std::max(bound, probed.bound);
    std::ranges::move(probed.nodes, std::back_inserter(found.probes));
    const MeanWithError plain = mean_of(found.probes, 0, known);
    const MeanWithError controlled = mean_of(found.probes, slope_of(found.probes), known);
    const MeanWithError& better = controlled.error < plain.error ? controlled : plain;
    found.sum = std::max(better.mean, 0.0);
    // Two standard errors reach as far as the rules leave the truth room.
    found.standard_error = better.error + bound / 2;
    if (better.error <= wanted_error * (known.known + found.sum)) break;
  }
  return found;
}

}  // namespace attnscope
