// Reduction of dense square matrices in double to tridiagonal or bidiagonal form by orthogonal
// transformations, like LAPACK's dsytrd and dgebrd. For maps of a few hundred tokens this takes
// most of the time of singular values.
#pragma once

#include <hwy/aligned_allocator.h>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Square matrix in double, initialised to 0 and padded to whole blocks of kBlock rows and columns,
/// on which the kernels here work.
class PaddedMatrix {
 public:
  static constexpr Eigen::Index kBlock = 8;
  static constexpr Eigen::Index padded(Eigen::Index n) {
    return (n + kBlock - 1) / kBlock * kBlock;
  }

  explicit PaddedMatrix(Eigen::Index size);

  [[nodiscard]] Eigen::Index size() const { return size_; }
  /// Number of entries from one row to the next: a multiple of kBlock.
  [[nodiscard]] Eigen::Index stride() const { return stride_; }
  [[nodiscard]] double* data() { return entries_.get(); }
  /// Matrix without the padding.
  [[nodiscard]] Eigen::Map<MatrixD, 0, Eigen::OuterStride<>> matrix() {
    return {data(), size_, size_, Eigen::OuterStride<>(stride_)};
  }

 private:
  Eigen::Index size_, stride_;
  hwy::AlignedFreeUniquePtr<double[]> entries_;
};

/// Diagonal [N] and neighbouring diagonal [N − 1] of a tridiagonal or bidiagonal matrix.
struct TwoDiagonals {
  std::vector<double> diagonal, off_diagonal;
};

/// Symmetric tridiagonal matrix with the eigenvalues of the symmetric `matrix`, of which only the
/// lower triangle is read and which is used as scratch. It needs at least 1 row and finite entries
/// whose squares are in range. Backward stable like dsytrd; one sweep over half the matrix per row.
[[nodiscard]] TwoDiagonals tridiagonal_form(PaddedMatrix& matrix);

/// Bidiagonal matrix with the singular values of `matrix`, with the same requirements, like dgebrd.
[[nodiscard]] TwoDiagonals bidiagonal_form(PaddedMatrix& matrix);

}  // namespace attnscope
