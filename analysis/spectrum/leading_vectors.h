// Leading singular vectors of dense matrices, of which few are wanted.
//
// Few are found by Spectra's implicitly restarted Lanczos method (SymEigsSolver) on AᵀA, which is
// not formed. On one core of an EPYC, as shares of the time of all of LAPACK's eigenvectors of AᵀA,
// for softmax maps, causal ones and A + I:
//
//   N      1 vector    4 vectors   N/32        N/12
//   197    0.05        0.2         0.3         0.4
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// Orthonormal singular vectors of the `count` greatest singular values, [min(rows, columns),
/// count], greatest first: right ones, or left ones if the matrix has more columns than rows.
/// `count` is at most min(rows, columns). NaN if the matrix is not finite or they did not converge.
/// Deterministic. ‖AᵀA v − σ² v‖ ≤ 1e-10 ‖A‖²_F.
[[nodiscard]] Eigen::MatrixXd leading_vectors(const MatrixD& matrix, Eigen::Index count);

}  // namespace attnscope
