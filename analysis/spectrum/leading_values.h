// The leading singular values of large maps, and the directions they belong to.
#pragma once

#include <vector>

#include "analysis/spectrum/map_operator.h"

namespace attnscope {

struct LeadingValues {
  std::vector<double> values;  ///< σ_1 ≥ σ_2 ≥ …, without a gap
  Eigen::MatrixXd right;       ///< [columns, as many]: orthonormal right singular vectors
};

enum class LeadingAccuracy {
  rounding,  ///< products in double; values right to about 1e-10 σ_1
  estimate   ///< products in float32; values right to about 1e-6 σ_1, several times as fast
};

/// The `wanted` greatest singular values (all where the map has no more), by a block Krylov method
/// on HᵀH with thick restarts: each step adds the residuals of what has not converged, so that
/// collapsed maps and repeated values end it early and break nothing. Fewer are given, or none,
/// where the greatest did not converge: what follows a gap is left out. Deterministic.
[[nodiscard]] LeadingValues leading_values(const MapOperator& map, Eigen::Index wanted,
                                           LeadingAccuracy accuracy = LeadingAccuracy::rounding);

}  // namespace attnscope
