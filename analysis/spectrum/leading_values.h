// Leading singular values of large maps with their right singular vectors.
//
// A block of vectors shares each pass over the map. Spectra's Lanczos method (leading_vectors.h)
// has one vector. As multiples of the block method's time, on one core of an EPYC, it took for
// softmax maps, causal ones and A + I in memory, with residuals of 1e-11 instead of 6e-10 σ_1:
//
//   N       1 value        3              8              32
//   512     0.49 – 0.66    0.55 – 0.71    0.35 – 0.49    0.18 – 0.31
//   1024    0.66 – 0.93    0.83 – 0.95    0.63 – 0.76    0.34 – 0.58
//   2048    0.56 – 0.97    0.85 – 0.97    0.78 – 1.06    0.62 – 1.29
//   4096    0.53 – 0.91    0.83 – 0.96    1.15 – 1.22    1.13 – 1.67    (without A + I)
//
// On two busy cores it took 0.5 to 1.2 at N = 1024 and 0.6 to 1.4 at 2048: maps of at least 2,048
// tokens therefore use this method. It took up to 3.1 for values in clusters of eight, and 2.6
// to 4.4 for estimates of 32 values; computed maps would be computed again for every vector.
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
/// did not converge: values after a gap are left out. Copies may be missing of a value that is
/// repeated more often than a step has directions (8, or 16 for estimates). Deterministic.
[[nodiscard]] LeadingValues leading_values(const MapOperator& map, Eigen::Index wanted,
                                           LeadingAccuracy accuracy = LeadingAccuracy::rounding);

}  // namespace attnscope
