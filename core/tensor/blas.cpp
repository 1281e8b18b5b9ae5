#include "core/tensor/blas.h"

#include <cassert>
#include <cblas.h>
#include <mutex>

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

}  // namespace attnscope
