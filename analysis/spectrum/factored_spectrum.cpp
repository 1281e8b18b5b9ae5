// Spectra of maps that are products of narrow matrices, without forming N×M entries.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/singular_values.h"
#include "analysis/spectrum/spectrum.h"
#include "core/error.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

/// Scales column f of both factors to equal length: their product is unchanged, and rounding errors
/// of one column do not hide another.
void balance(MatrixD& left, MatrixD& right) {
  for (Eigen::Index f = 0; f < left.cols(); ++f) {
    const double a = left.col(f).norm(), b = right.col(f).norm();
    if (!(a > 0 && b > 0)) continue;
    const double scale = std::sqrt(b / a);
    left.col(f) *= scale;
    right.col(f) /= scale;
  }
}

/// ‖H − Hᵀ‖²_F = 2 (‖H‖²_F − tr H²), and tr H² = tr (Rᵀ L)².
double asymmetry(const MatrixD& left, const MatrixD& right, double squares) {
  const MatrixD small = right.transpose() * left;
  const double trace = (small.array() * small.transpose().array()).sum();
  return std::sqrt(std::max(0.0, 2 * (squares - trace)));
}

std::int64_t rows_not_finite(const MatrixD& matrix) {
  std::int64_t count = 0;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    if (!matrix.row(i).array().isFinite().all()) ++count;
  }
  return count;
}

}  // namespace

MapSpectrum spectrum_of_factors(const ConstMatrixMap& left_factor,
                                const ConstMatrixMap& right_factor, bool identity,
                                const SpectrumOptions& options) {
  const std::int64_t n = left_factor.rows(), m = right_factor.rows(), b = left_factor.cols();
  if (n == 0 || m == 0 || b == 0 || right_factor.cols() != b) {
    throw Error(ErrorKind::usage, "the factors of a map do not fit each other")
        .expected("[N, b] and [M, b]")
        .found("[" + std::to_string(n) + ", " + std::to_string(b) + "] and [" + std::to_string(m) +
               ", " + std::to_string(right_factor.cols()) + "]");
  }
  if (identity && n != m) {
    throw Error(ErrorKind::usage, "I can be added to square maps only")
        .found(std::to_string(n) + " × " + std::to_string(m));
  }
  check_threshold(options.threshold);
  MapSpectrum spectrum;
  spectrum.method = SpectrumMethod::factored;
  spectrum.threshold = options.threshold;
  spectrum.tokens = std::max(n, m);
  MatrixD left = left_factor.cast<double>(), right = right_factor.cast<double>();
  const std::int64_t bad_rows = rows_not_finite(left), bad_columns = rows_not_finite(right);
  spectrum.not_finite_entries = bad_rows * m + bad_columns * n - bad_rows * bad_columns;
  if (spectrum.not_finite_entries > 0) {
    spectrum.state = SpectrumState::not_finite;
    return spectrum;
  }
  const auto values_of = [](MatrixD matrix) {
    return singular_values(matrix, SpectrumAccuracy::every_value);
  };
  balance(left, right);
  const SingularValues product =
      values_of(triangular_factor(left) * triangular_factor(right).transpose());
  if (!product.converged) {
    spectrum.state = SpectrumState::not_converged;
    return spectrum;
  }
  double squares = 0;  // ‖H‖²_F
  for (const double value : product.values) squares += value * value;
  for (Eigen::Index i = 0; !identity && i < n; ++i) {
    if ((left.row(i).array() == 0).all()) ++spectrum.zero_rows;
  }
  const auto smaller = static_cast<std::size_t>(std::min(n, m));
  std::vector<double> values = product.values;
  if (identity) {
    // H + I is I outside the span of both factors, and a small matrix within it.
    MatrixD both(n, 2 * b);
    both << left, right;
    const Eigen::MatrixXd triangle = triangular_factor(both);
    MatrixD within = triangle.leftCols(b) * triangle.rightCols(b).transpose();
    within.diagonal().array() += 1;
    const SingularValues inner = values_of(std::move(within));
    if (!inner.converged) {
      spectrum.state = SpectrumState::not_converged;
      return spectrum;
    }
    values = inner.values;
    values.resize(smaller, 1);
    std::sort(values.begin(), values.end(), std::greater<>());
  }
  values.resize(smaller, 0);
  if (!(values.front() > 0)) {
    spectrum.state = SpectrumState::zero;
    spectrum.singular_values = std::move(values);
    return spectrum;
  }
  take_singular_values(spectrum, std::move(values));
  spectrum.symmetry_error = std::numeric_limits<double>::quiet_NaN();
  if (n == m) {
    double whole = 0;  // ‖H + I‖²_F, or ‖H‖²_F
    for (const double value : spectrum.singular_values) whole += value * value;
    spectrum.symmetry_error = asymmetry(left, right, squares) / std::sqrt(whole);
  }
  return spectrum;
}

}  // namespace attnscope
