// Decompositions of dense matrices in double, by LAPACK on one thread. Nothing else in the program
// decomposes a matrix, but for the batched spectra of analysis/spectrum and the random orthogonal
// rows of core/attention, which promise the same bytes on every machine.
//
// A matrix that holds NaN or Inf, or on which LAPACK does not converge, gives results of NaN.
#pragma once

#include <complex>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// A = left · diag(values) · rightᵀ with k = min(rows, columns).
struct SingularVectors {
  Eigen::MatrixXd left;    ///< [rows, k], orthonormal columns
  Eigen::VectorXd values;  ///< [k], descending, ≥ 0
  Eigen::MatrixXd right;   ///< [columns, k], orthonormal columns
};

[[nodiscard]] SingularVectors singular_vectors(Eigen::MatrixXd matrix);

/// The values of `singular_vectors`: half of its time or less.
[[nodiscard]] Eigen::VectorXd singular_values_of(Eigen::MatrixXd matrix);

struct Eigenpairs {
  Eigen::VectorXd values;   ///< [n], ascending
  Eigen::MatrixXd vectors;  ///< [n, n], one a column
};

/// A x = λ x of a symmetric matrix, of which the lower triangle is read. Vectors are orthonormal.
[[nodiscard]] Eigenpairs symmetric_eigenpairs(Eigen::MatrixXd matrix);

/// A x = λ B x of a symmetric A and a symmetric positive definite B; vectors with xᵀ B x = 1.
[[nodiscard]] Eigenpairs symmetric_eigenpairs(Eigen::MatrixXd matrix, Eigen::MatrixXd metric);

/// A x = λ x of the symmetric tridiagonal matrix with this diagonal [n] and the n − 1 entries
/// beside it. Vectors are orthonormal.
[[nodiscard]] Eigenpairs tridiagonal_eigenpairs(Eigen::VectorXd diagonal, Eigen::VectorXd beside);

/// The eigenvalues of a square matrix, in no order.
[[nodiscard]] std::vector<std::complex<double>> eigenvalues_of(Eigen::MatrixXd matrix);

/// R of A = Q R, [min(rows, columns), columns]; the signs of its rows are LAPACK's.
[[nodiscard]] Eigen::MatrixXd triangular_factor(Eigen::MatrixXd matrix);

}  // namespace attnscope
