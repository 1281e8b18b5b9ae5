#include "core/tensor/blas.h"

#include <algorithm>
#include <cassert>
#include <cblas.h>
#include <mutex>
#include <tbb/parallel_for.h>

#include "core/platform/openblas.h"

namespace attnscope {

namespace {

void gemm(ConstStridedMatrixMap a, ConstStridedMatrixMap b, bool transpose_b, float scale,
          StridedMatrixMap out, bool accumulate) {
  use_one_blas_thread();
  const auto extent = [](Eigen::Index value) { return static_cast<int>(value); };
  if (out.size() == 0) return;
  if (a.cols() == 0) {
    if (!accumulate) out.setZero();
    return;
  }
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
              extent(out.rows()), extent(out.cols()), extent(a.cols()), scale, a.data(),
              extent(a.outerStride()), b.data(), extent(b.outerStride()), accumulate ? 1.0F : 0.0F,
              out.data(), extent(out.outerStride()));
}

}  // namespace

void use_one_blas_thread() {
  check_blas_work_space();
  static std::once_flag once;
  std::call_once(once, [] {
    use_better_blas_kernels();
    set_blas_threads(1);
  });
}

void multiply_transposed(ConstStridedMatrixMap a, ConstStridedMatrixMap b, float scale,
                         StridedMatrixMap out, bool accumulate) {
  assert(a.cols() == b.cols() && out.rows() == a.rows() && out.cols() == b.rows());
  gemm(a, b, true, scale, out, accumulate);
}

void multiply(ConstStridedMatrixMap a, ConstStridedMatrixMap b, float scale, StridedMatrixMap out,
              bool accumulate) {
  assert(a.cols() == b.rows() && out.rows() == a.rows() && out.cols() == b.cols());
  gemm(a, b, false, scale, out, accumulate);
}

namespace {

MatrixD product_in_blocks(const MatrixD& a, const MatrixD& b, bool transposed) {
  constexpr Eigen::Index kRowsPerBlock = 256;
  const Eigen::Index columns = transposed ? b.rows() : b.cols();
  if (a.size() == 0 || b.size() == 0) return MatrixD::Zero(a.rows(), columns);
  use_one_blas_thread();
  MatrixD product(a.rows(), columns);
  const auto extent = [](Eigen::Index count) { return static_cast<int>(count); };
  tbb::parallel_for(Eigen::Index{0}, (a.rows() - 1) / kRowsPerBlock + 1, [&](Eigen::Index block) {
    const Eigen::Index first = block * kRowsPerBlock;
    const Eigen::Index rows = std::min(kRowsPerBlock, a.rows() - first);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, extent(rows),
                extent(columns), extent(a.cols()), 1, a.row(first).data(), extent(a.cols()),
                b.data(), extent(b.cols()), 0, product.row(first).data(), extent(columns));
  });
  return product;
}

}  // namespace

MatrixD dense_product(const MatrixD& a, const MatrixD& b) { return product_in_blocks(a, b, false); }

MatrixD dense_product_transposed(const MatrixD& a, const MatrixD& b) {
  return product_in_blocks(a, b, true);
}

}  // namespace attnscope
