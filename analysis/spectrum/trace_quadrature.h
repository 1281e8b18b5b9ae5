// Σσ of what a large map has beside its leading values, by stochastic Lanczos quadrature (Ubaru,
// Chen & Saad 2017), with the known Σσ² as a control variate.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/spectrum/map_operator.h"

namespace attnscope {

/// (σ, how many values lie about it), σ descending: what one probe says of the rest.
using QuadratureNodes = std::vector<std::pair<double, double>>;

/// Σ of σ times how many.
[[nodiscard]] double sum_of_values(const QuadratureNodes& nodes);

struct TraceQuadrature {
  std::vector<QuadratureNodes> probes;
  double sum = 0;             ///< Σσ of the rest
  double standard_error = 0;  ///< of sum
};

/// What is known before.
struct KnownOfRest {
  double squares = 0;    ///< Σσ² of the rest: ‖H‖²_F without the leading values' squares
  double frobenius = 0;  ///< ‖H‖_F
  double known = 0;      ///< Σσ of the leading values
};

/// Probes what `map` does to vectors outside the columns of `leading` [columns, k], orthonormal:
/// sixteen at a time until the standard error is below `wanted_error` of Σσ with the known, or
/// there are 32. Deterministic. Every probe's weights sum to min(N, M) − k.
[[nodiscard]] TraceQuadrature probe_rest(const MapOperator& map, const Eigen::MatrixXd& leading,
                                         const KnownOfRest& known, double wanted_error);

}  // namespace attnscope
