// Leading singular vectors of dense matrices, of which few are wanted.
//
// Few are found by Spectra's implicitly restarted Lanczos method (SymEigsSolver) on AᵀA, which is
// not formed. As shares of the time of all of LAPACK's eigenvectors of AᵀA, on one core of an EPYC,
// it took for softmax maps, causal ones and A + I:
//
//   N       1 vector       3              8              32
//   197     0.06           0.15 – 0.41    0.29 – 0.51    by LAPACK
//   512     0.02           0.05 – 0.18    0.10 – 0.21    0.24 – 0.44
//   1024    0.02           0.04 – 0.14    0.07 – 0.20    0.15 – 0.29
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// Orthonormal singular vectors of the `count` greatest singular values, [min(rows, columns),
/// count], greatest first: right ones, or left ones if the matrix has more columns than rows.
/// `count` is at most min(rows, columns). NaN if the matrix is not finite or they did not converge.
/// Deterministic. ‖AᵀA v − σ² v‖ ≤ 1e-12 ‖A‖²_F.
[[nodiscard]] Eigen::MatrixXd leading_vectors(const MatrixD& matrix, Eigen::Index count);

}  // namespace attnscope
