#include "analysis/weights/product_symmetry.h"

#include <cmath>
#include <limits>

#include "core/tensor/blas.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

/// Σ max(norm − bound, 0) with bound = mean + 2 · standard deviation, that of n − 1.
double excess_of(const Eigen::VectorXd& norms) {
  const auto count = static_cast<double>(norms.size());
  if (count < 2) return 0;
  const double mean = norms.mean();
  const double deviation = std::sqrt((norms.array() - mean).square().sum() / (count - 1));
  return (norms.array() - (mean + 2 * deviation)).max(0).sum();
}

constexpr ProductSymmetry unknown_symmetry = {std::numeric_limits<double>::quiet_NaN(),
                                              std::numeric_limits<double>::quiet_NaN()};

/// The numbers of M from ‖M‖², tr(MM), and the norms of its rows and columns.
ProductSymmetry symmetry_from(double squared_norm, double trace, const Eigen::VectorXd& rows,
                              const Eigen::VectorXd& columns) {
  const double row_excess = excess_of(rows), column_excess = excess_of(columns);
  const double sum = column_excess + row_excess;
  return {squared_norm > 0 ? (1 + trace / squared_norm) / 2 : unknown_symmetry.symmetry,
          sum > 0 ? (column_excess - row_excess) / sum : 0};
}

/// Σ_ij m_ij m_ji
double trace_of_square(const MatrixD& matrix) {
  return (matrix.array() * matrix.transpose().array()).sum();
}

}  // namespace

ProductSymmetry product_symmetry(const MatrixD& left, const MatrixD& right) {
  if (left.rows() != right.cols() || !left.allFinite() || !right.allFinite()) {
    return unknown_symmetry;
  }
  // With right = Tᵀ Qᵀ, row i of M is left_i Tᵀ Qᵀ, whose norm is that of left_i Tᵀ.
  const MatrixD rows = dense_product(left, triangular_factor(right.transpose()).transpose());
  const MatrixD columns = dense_product(right.transpose(), triangular_factor(left).transpose());
  // tr(MM) is the trace of the square of right · left, which is only [d, d].
  return symmetry_from(rows.squaredNorm(), trace_of_square(dense_product(right, left)),
                       rows.rowwise().norm(), columns.rowwise().norm());
}

ProductSymmetry product_symmetry(const MatrixD& product) {
  if (product.rows() != product.cols() || !product.allFinite()) return unknown_symmetry;
  return symmetry_from(product.squaredNorm(), trace_of_square(product), product.rowwise().norm(),
                       product.colwise().norm());
}

}  // namespace attnscope
