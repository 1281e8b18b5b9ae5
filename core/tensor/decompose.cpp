#include "core/tensor/decompose.h"

#include <algorithm>
#include <lapacke.h>
#include <limits>
#include <utility>

#include "core/tensor/blas.h"

namespace attnscope {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

lapack_int extent(Eigen::Index count) { return static_cast<lapack_int>(count); }

/// Distance between columns, at least 1 as LAPACK requires.
lapack_int stride(const Eigen::MatrixXd& matrix) { return std::max(extent(matrix.rows()), 1); }

/// The pairs that LAPACK left in `values` and `vectors`; NaN unless it converged.
Eigenpairs pairs_if(bool converged, Eigen::VectorXd values, Eigen::MatrixXd vectors) {
  if (!converged) {
    values.setConstant(kNaN);
    vectors.setConstant(kNaN);
  }
  return {std::move(values), std::move(vectors)};
}

}  // namespace

SingularVectors singular_vectors(Eigen::MatrixXd matrix) {
  use_one_blas_thread();
  const Eigen::Index rows = matrix.rows(), columns = matrix.cols(), k = std::min(rows, columns);
  SingularVectors found{Eigen::MatrixXd(rows, k), Eigen::VectorXd(k), Eigen::MatrixXd(columns, k)};
  if (k == 0) return found;
  Eigen::MatrixXd transposed(k, columns);
  const bool converged =
      matrix.allFinite() &&
      LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', extent(rows), extent(columns), matrix.data(),
                     stride(matrix), found.values.data(), found.left.data(), stride(found.left),
                     transposed.data(), stride(transposed)) == 0;
  if (converged) {
    found.right = transposed.transpose();
  } else {
    found.left.setConstant(kNaN);
    found.values.setConstant(kNaN);
    found.right.setConstant(kNaN);
  }
  return found;
}

Eigen::VectorXd singular_values_of(Eigen::MatrixXd matrix) {
  use_one_blas_thread();
  Eigen::VectorXd values(std::min(matrix.rows(), matrix.cols()));
  if (values.size() == 0) return values;
  const bool converged =
      matrix.allFinite() &&
      LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'N', extent(matrix.rows()), extent(matrix.cols()),
                     matrix.data(), stride(matrix), values.data(), nullptr, 1, nullptr, 1) == 0;
  if (!converged) values.setConstant(kNaN);
  return values;
}

Eigenpairs symmetric_eigenpairs(Eigen::MatrixXd matrix) {
  use_one_blas_thread();
  Eigen::VectorXd values(matrix.rows());
  const bool converged =
      matrix.size() == 0 ||
      (matrix.allFinite() && LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', extent(matrix.rows()),
                                            matrix.data(), stride(matrix), values.data()) == 0);
  return pairs_if(converged, std::move(values), std::move(matrix));
}

Eigenpairs symmetric_eigenpairs(Eigen::MatrixXd matrix, Eigen::MatrixXd metric) {
  use_one_blas_thread();
  Eigen::VectorXd values(matrix.rows());
  constexpr lapack_int kWithMetricOnTheRight = 1;  // A x = λ B x
  const bool converged =
      matrix.size() == 0 || (matrix.allFinite() && metric.allFinite() &&
                             LAPACKE_dsygvd(LAPACK_COL_MAJOR, kWithMetricOnTheRight, 'V', 'L',
                                            extent(matrix.rows()), matrix.data(), stride(matrix),
                                            metric.data(), stride(metric), values.data()) == 0);
  return pairs_if(converged, std::move(values), std::move(matrix));
}

Eigenpairs tridiagonal_eigenpairs(Eigen::VectorXd diagonal, Eigen::VectorXd beside) {
  const Eigen::Index n = diagonal.size();
  Eigen::MatrixXd vectors(n, n);
  // LAPACK overwrites both arrays and requires a valid address even without off-diagonal entries.
  double nothing = 0;
  const bool converged = n == 0 || (diagonal.allFinite() && beside.allFinite() &&
                                    LAPACKE_dstev(LAPACK_COL_MAJOR, 'V', extent(n), diagonal.data(),
                                                  n > 1 ? beside.data() : &nothing, vectors.data(),
                                                  stride(vectors)) == 0);
  return pairs_if(converged, std::move(diagonal), std::move(vectors));
}

std::vector<std::complex<double>> eigenvalues_of(Eigen::MatrixXd matrix) {
  use_one_blas_thread();
  const Eigen::Index n = matrix.rows();
  Eigen::VectorXd real(n), imaginary(n);
  const bool converged =
      n == 0 || (matrix.allFinite() &&
                 LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', extent(n), matrix.data(), stride(matrix),
                               real.data(), imaginary.data(), nullptr, 1, nullptr, 1) == 0);
  std::vector<std::complex<double>> values;
  for (Eigen::Index i = 0; i < n; ++i) {
    values.push_back(converged ? std::complex(real(i), imaginary(i)) : std::complex(kNaN, kNaN));
  }
  return values;
}

Eigen::VectorXd solution_of(Eigen::MatrixXd matrix, Eigen::VectorXd right) {
  use_one_blas_thread();
  std::vector<lapack_int> pivots(static_cast<std::size_t>(matrix.rows()));
  const bool solved = matrix.size() == 0 ||
                      (matrix.allFinite() && right.allFinite() &&
                       LAPACKE_dgesv(LAPACK_COL_MAJOR, extent(matrix.rows()), 1, matrix.data(),
                                     stride(matrix), pivots.data(), right.data(),
                                     std::max<lapack_int>(extent(right.size()), 1)) == 0);
  if (!solved) right.setConstant(kNaN);
  return right;
}

Eigen::MatrixXd triangular_factor(Eigen::MatrixXd matrix) {
  use_one_blas_thread();
  const Eigen::Index k = std::min(matrix.rows(), matrix.cols());
  if (k == 0) return Eigen::MatrixXd(k, matrix.cols());
  Eigen::VectorXd reflectors(k);
  if (!matrix.allFinite() ||
      LAPACKE_dgeqrf(LAPACK_COL_MAJOR, extent(matrix.rows()), extent(matrix.cols()), matrix.data(),
                     stride(matrix), reflectors.data()) != 0) {
    return Eigen::MatrixXd::Constant(k, matrix.cols(), kNaN);
  }
  return matrix.topRows(k).triangularView<Eigen::Upper>();
}

}  // namespace attnscope
