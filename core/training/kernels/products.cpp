#include "core/training/kernels/products.h"

#include <cassert>
#include <cblas.h>

#include "core/tensor/blas.h"

namespace attnscope {

void add_transposed_product(ConstStridedMatrixMap a, ConstStridedMatrixMap b, float scale,
                            StridedMatrixMap out) {
  assert(a.rows() == b.rows() && out.rows() == a.cols() && out.cols() == b.cols());
  use_one_blas_thread();
  if (out.size() == 0 || a.rows() == 0) return;
  const auto extent = [](Eigen::Index value) { return static_cast<int>(value); };
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, extent(out.rows()), extent(out.cols()),
              extent(a.rows()), scale, a.data(), extent(a.outerStride()), b.data(),
              extent(b.outerStride()), 1.0F, out.data(), extent(out.outerStride()));
}

}  // namespace attnscope
