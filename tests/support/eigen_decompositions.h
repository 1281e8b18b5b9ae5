// Decompositions by Eigen, which the tests compare with the program's (LAPACK and its own). Eigen
// takes long to compile them: they are instantiated here only.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

struct EigenSvd {
  Eigen::MatrixXd u, v;    ///< thin singular vectors, one per column
  Eigen::VectorXd values;  ///< descending
};

/// Thin singular value decomposition.
EigenSvd svd_by_eigen(const Eigen::MatrixXd& matrix);

/// Eigenvalues of a symmetric matrix, ascending.
Eigen::VectorXd eigenvalues_by_eigen(const Eigen::MatrixXd& symmetric);

/// Eigenvalues of a symmetric tridiagonal matrix in long double, ascending. `beside` has one entry
/// less than `diagonal`.
Eigen::VectorXd tridiagonal_eigenvalues_by_eigen(const std::vector<double>& diagonal,
                                                 const std::vector<double>& beside);

/// The orthogonal factor Q of the matrix's QR decomposition.
MatrixD orthogonal_factor_by_eigen(const MatrixD& matrix);

}  // namespace attnscope
