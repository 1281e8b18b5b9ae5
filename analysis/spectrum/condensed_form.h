// Dense square matrices in double made tridiagonal or bidiagonal by orthogonal transformations, as
// LAPACK's dsytrd and dgebrd do, in kernels of our own: of maps of a few hundred tokens these take
// most of the time that singular values take.
#pragma once

#include <hwy/aligned_allocator.h>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// A square matrix in double, zeros at first, with room about it: the kernels here work on whole
/// blocks of kBlock rows and columns.
class PaddedMatrix {
 public:
  static constexpr Eigen::Index kBlock = 8;
  static constexpr Eigen::Index padded(Eigen::Index n) {
    return (n + kBlock - 1) / kBlock * kBlock;
  }

  explicit PaddedMatrix(Eigen::Index size);

  [[nodiscard]] Eigen::Index size() const { return size_; }
  /// Entries from one row to the next: a multiple of kBlock.
  [[nodiscard]] Eigen::Index stride() const { return stride_; }
  [[nodiscard]] double* data() { return entries_.get(); }
  /// Without the room about it.
  [[nodiscard]] Eigen::Map<MatrixD, 0, Eigen::OuterStride<>> matrix() {
    return {data(), size_, size_, Eigen::OuterStride<>(stride_)};
  }

 private:
  Eigen::Index size_, stride_;
  hwy::AlignedFreeUniquePtr<double[]> entries_;
};

/// The diagonal of a matrix, and what stands beside it: one value less.
struct TwoDiagonals {
  std::vector<double> diagonal, beside;
};

/// A symmetric tridiagonal matrix with the eigenvalues of the symmetric `matrix`, of which only the
/// lower triangle is read. 1 row or more, finite, squares in range; used as work space. Backward
/// stable, as dsytrd: one sweep over half the matrix for each row.
[[nodiscard]] TwoDiagonals tridiagonal_form(PaddedMatrix& matrix);

/// A bidiagonal matrix with the singular values of `matrix`, as above; as dgebrd.
[[nodiscard]] TwoDiagonals bidiagonal_form(PaddedMatrix& matrix);

}  // namespace attnscope
