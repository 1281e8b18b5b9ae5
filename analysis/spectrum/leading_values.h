// Leading singular values of large maps with their right singular vectors.
#pragma once

#include <vector>

#include "analysis/spectrum/map_operator.h"

namespace attnscope {

struct LeadingValues {
  std::vector<double> values;  ///< σ_1 ≥ σ_2 ≥ …, without a gap
  Eigen::MatrixXd right;       ///< [columns, number of values]: orthonormal
};

enum class LeadingAccuracy {
  rounding,  ///< products in double; values accurate to about 1e-10 σ_1
  estimate   ///< products in float32; values accurate to about 1e-6 σ_1, several times as fast
};

/// The `wanted` greatest singular values (all if the map has fewer), by a block Krylov method on
/// HᵀH with thick restarts. Each step adds the residuals of pairs that have not converged;
/// collapsed maps and repeated values therefore end it early. Returns fewer values, or none, if one
/// did not converge: values after a gap are left out. Deterministic.
[[nodiscard]] LeadingValues leading_values(const MapOperator& map, Eigen::Index wanted,
                                           LeadingAccuracy accuracy = LeadingAccuracy::rounding);

}  // namespace attnscope
