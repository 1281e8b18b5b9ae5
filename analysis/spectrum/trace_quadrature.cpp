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
