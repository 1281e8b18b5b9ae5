// Decompositions of dense matrices in double, by LAPACK on one thread. The only other
// decompositions are the batched spectra and the few leading vectors of analysis/spectrum, the
// second eigenvalue of analysis/heads, and the random orthogonal rows of core/attention, which
// guarantee the same bytes on every machine.
//
// Results are NaN if the matrix holds NaN or Inf, or if LAPACK does not converge.
#pragma once

#include <complex>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Singular value decomposition A = left · diag(values) · rightᵀ with k = min(rows, columns).
struct SingularVectors {
  Eigen::MatrixXd left;    ///< [rows, k], orthonormal columns
  Eigen::VectorXd values;  ///< [k], descending, ≥ 0
  Eigen::MatrixXd right;   ///< [columns, k], orthonormal columns
};

[[nodiscard]] SingularVectors singular_vectors(Eigen::MatrixXd matrix);

/// Only the values of `singular_vectors`, in at most half its time.
[[nodiscard]] Eigen::VectorXd singular_values_of(Eigen::MatrixXd matrix);

struct Eigenpairs {
  Eigen::VectorXd values;   ///< [n], ascending
  Eigen::MatrixXd vectors;  ///< [n, n], one vector per column
};

/// Solves A x = λ x for a symmetric matrix, of which only the lower triangle is read. Vectors are
/// orthonormal.
[[nodiscard]] Eigenpairs symmetric_eigenpairs(Eigen::MatrixXd matrix);

/// Solves A x = λ B x for a symmetric A and a symmetric positive definite B. Vectors satisfy xᵀ B x
/// = 1.
[[nodiscard]] Eigenpairs symmetric_eigenpairs(Eigen::MatrixXd matrix, Eigen::MatrixXd metric);

/// Solves A x = λ x for the symmetric tridiagonal matrix with `diagonal` [n] and the n − 1 entries
/// `beside` it. Vectors are orthonormal.
[[nodiscard]] Eigenpairs tridiagonal_eigenpairs(Eigen::VectorXd diagonal, Eigen::VectorXd beside);

/// The eigenvalues of a square matrix, in no particular order.
[[nodiscard]] std::vector<std::complex<double>> eigenvalues_of(Eigen::MatrixXd matrix);

/// The solution x of A x = b for a square matrix; NaN if it is singular.
[[nodiscard]] Eigen::VectorXd solution_of(Eigen::MatrixXd matrix, Eigen::VectorXd right);

/// R [min(rows, columns), columns] of A = Q R. The signs of its rows are LAPACK's.
[[nodiscard]] Eigen::MatrixXd triangular_factor(Eigen::MatrixXd matrix);

}  // namespace attnscope
