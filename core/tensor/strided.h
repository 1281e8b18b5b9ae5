// A whole matrix where a part of a wider one may stand too.
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
