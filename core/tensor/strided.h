// Strided maps of whole matrices, for functions that also accept parts of wider ones.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

[[nodiscard]] inline ConstStridedMatrixMap strided(const Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), Eigen::OuterStride<>(matrix.cols())};
}

[[nodiscard]] inline StridedMatrixMap strided_output(Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), Eigen::OuterStride<>(matrix.cols())};
}

}  // namespace attnscope
