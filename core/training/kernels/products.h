// The matrix product for gradients of weights, in addition to those of core/tensor/blas.h.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// out += scale · aᵀ b with a [k, m], b [k, n], out [m, n]; rows may be strided. Runs on one
/// thread.
void add_transposed_product(ConstStridedMatrixMap a, ConstStridedMatrixMap b, float scale,
                            StridedMatrixMap out);

/// View of contiguous rows in the type that the products take.
[[nodiscard]] inline ConstStridedMatrixMap rows_of(const float* data, std::int64_t rows,
                                                   std::int64_t columns) {
  return {data, rows, columns, Eigen::OuterStride<>(columns)};
}
[[nodiscard]] inline StridedMatrixMap rows_of(float* data, std::int64_t rows,
                                              std::int64_t columns) {
  return {data, rows, columns, Eigen::OuterStride<>(columns)};
}
[[nodiscard]] inline ConstStridedMatrixMap rows_of(const Matrix& matrix) {
  return rows_of(matrix.data(), matrix.rows(), matrix.cols());
}
[[nodiscard]] inline StridedMatrixMap rows_of(Matrix& matrix) {
  return rows_of(matrix.data(), matrix.rows(), matrix.cols());
}

/// A read-only view of the same rows.
[[nodiscard]] inline ConstStridedMatrixMap seen(const StridedMatrixMap& rows) {
  return {rows.data(), rows.rows(), rows.cols(), Eigen::OuterStride<>(rows.outerStride())};
}

}  // namespace attnscope
