// Estimate of Σσ of a large map without its leading values, by stochastic Lanczos quadrature
// (Ubaru, Chen & Saad 2017) with the known Σσ² as a control variate.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "analysis/spectrum/map_operator.h"

namespace attnscope {

/// Nodes of one probe: (σ, number of values near it), σ descending.
using QuadratureNodes = std::vector<std::pair<double, double>>;

/// Σ of σ times its number of values.
[[nodiscard]] double sum_of_values(const QuadratureNodes& nodes);

struct TraceQuadrature {
  std::vector<QuadratureNodes> probes;
  double sum = 0;             ///< Σσ of the rest
  double standard_error = 0;  ///< standard error of sum
  double rule_distance = 0;   ///< distance of the quadrature's two rules, between which Σσ lies
};

/// Sums that are known before probing.
struct KnownOfRest {
  double squares = 0;    ///< Σσ² of the rest: ‖H‖²_F without the leading values' squares
  double frobenius = 0;  ///< ‖H‖_F
  double known = 0;      ///< Σσ of the leading values
};

/// Estimate of Σ f(σ) over the rest.
struct ProbedSum {
  double plain = 0;  ///< mean over the probes
  /// The same mean, with the known Σσ² as a control variate if its error is then smaller.
  double mean = 0;
  double standard_error = 0;  ///< standard error of `mean`, from the spread over the probes
};

/// The estimate of Σ f(σ) from at least two probes.
[[nodiscard]] ProbedSum probed_sum(const std::vector<QuadratureNodes>& probes,
                                   const KnownOfRest& known,
                                   const std::function<double(double)>& f);

/// Probes `map` with random vectors outside the orthonormal columns of `leading` [columns, k]:
/// sixteen at a time until their standard error is below `wanted_error` times Σσ of all values, or
/// there are 32. Deterministic. The weights of every probe sum to min(N, M) − k.
[[nodiscard]] TraceQuadrature probe_rest(const MapOperator& map, const Eigen::MatrixXd& leading,
                                         const KnownOfRest& known, double wanted_error);

}  // namespace attnscope
