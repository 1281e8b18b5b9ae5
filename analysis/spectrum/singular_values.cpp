#include "analysis/spectrum/singular_values.h"

#include <algorithm>
#include <cblas.h>
#include <cmath>
#include <lapacke.h>

#include "core/tensor/blas.h"

namespace attnscope {

namespace {

// Half of what is promised of f(r): both its numerator and its denominator err.
constexpr double kAllowedShareError = 5e-6;

/// By the eigenvalues of the smaller of HᵀH and HHᵀ: half the work of a bidiagonalisation, most of
/// it in matrix products.
SingularValues from_gram(const MatrixD& matrix) {
  const auto rows = static_cast<blasint>(matrix.rows());
  const auto columns = static_cast<blasint>(matrix.cols());
  const blasint size = std::min(rows, columns);
  MatrixD gram(size, size);
  cblas_dsyrk(CblasRowMajor, CblasLower, rows <= columns ? CblasNoTrans : CblasTrans, size,
              std::max(rows, columns), 1.0, matrix.data(), columns, 0.0, gram.data(), size);
  SingularValues result;
  result.values.resize(static_cast<std::size_t>(size));
  // Row-major lower is column-major upper.
  const lapack_int failed =
      LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'N', 'U', size, gram.data(), size, result.values.data());
  if (failed != 0) return {{}, false};
  std::reverse(result.values.begin(), result.values.end());
  for (double& value : result.values) value = std::sqrt(std::max(value, 0.0));
  return result;
}

SingularValues from_bidiagonal(MatrixD& matrix) {
  const auto rows = static_cast<lapack_int>(matrix.rows());
  const auto columns = static_cast<lapack_int>(matrix.cols());
  SingularValues result;
  result.values.resize(static_cast<std::size_t>(std::min(rows, columns)));
  // The row-major matrix is its transpose to LAPACK, with the same singular values.
  const lapack_int failed = LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'N', columns, rows, matrix.data(),
                                           columns, result.values.data(), nullptr, 1, nullptr, 1);
  if (failed != 0) return {{}, false};
  return result;
}

}  // namespace

double gram_share_error(const std::vector<double>& values) {
  if (values.empty() || values.front() <= 0) return 0;
  // An eigenvalue of HᵀH is off by at most δ = c · ε · σ_1². The formation of HᵀH and its
  // reduction stay well below c = 6 √N, over maps of every rank (singular_values_test.cpp).
  const double size = static_cast<double>(values.size());
  const double greatest = values.front();
  const double delta = 6 * std::sqrt(size) * 0x1p-53 * greatest * greatest;
  const double root = std::sqrt(delta);
  double error = 0, sum = 0;
  for (const double value : values) {
    error += value > root ? delta / (2 * value) : root;
    sum += value;
  }
  return error / sum;
}

SingularValues singular_values(MatrixD& matrix, SpectrumAccuracy accuracy) {
  use_one_blas_thread();
  if (accuracy == SpectrumAccuracy::cumulative) {
    SingularValues result = from_gram(matrix);
    if (result.converged && gram_share_error(result.values) <= kAllowedShareError) return result;
  }
  return from_bidiagonal(matrix);
}

}  // namespace attnscope
