#include "analysis/weights/product_symmetry.h"

#include <cmath>
#include <limits>

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

}  // namespace

ProductSymmetry product_symmetry(const MatrixD& left, const MatrixD& right) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (left.rows() != right.cols() || !left.allFinite() || !right.allFinite()) {
    return {kUnknown, kUnknown};
  }
  // With right = T ᵀQᵀ, row i of M is left_i Tᵀ Qᵀ, whose norm is that of left_i Tᵀ.
  const MatrixD rows = left * triangular_factor(right.transpose()).transpose();
  const MatrixD columns = right.transpose() * triangular_factor(left).transpose();
  const double squared_norm = rows.squaredNorm();
  // tr(MM) is the trace of the square of right · left, which is only [d, d].
  const MatrixD inner = right * left;
  const double trace = (inner.array() * inner.transpose().array()).sum();
  const double row_excess = excess_of(rows.rowwise().norm());
  const double column_excess = excess_of(columns.rowwise().norm());
  const double sum = column_excess + row_excess;
  return {squared_norm > 0 ? (1 + trace / squared_norm) / 2 : kUnknown,
          sum > 0 ? (column_excess - row_excess) / sum : 0};
}

}  // namespace attnscope
