#include "analysis/weights/dense_product.h"

#include <algorithm>
#include <cblas.h>
#include <tbb/parallel_for.h>

#include "core/tensor/blas.h"

namespace attnscope {

MatrixD dense_product(const MatrixD& a, const MatrixD& b) {
  constexpr Eigen::Index kRowsPerBlock = 256;
  if (a.size() == 0 || b.size() == 0) return MatrixD::Zero(a.rows(), b.cols());
  use_one_blas_thread();
  MatrixD product(a.rows(), b.cols());
  const auto extent = [](Eigen::Index count) { return static_cast<int>(count); };
  tbb::parallel_for(Eigen::Index{0}, (a.rows() - 1) / kRowsPerBlock + 1, [&](Eigen::Index block) {
    const Eigen::Index first = block * kRowsPerBlock;
    const Eigen::Index rows = std::min(kRowsPerBlock, a.rows() - first);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, extent(rows), extent(b.cols()),
                extent(a.cols()), 1, a.row(first).data(), extent(a.cols()), b.data(),
                extent(b.cols()), 0, product.row(first).data(), extent(b.cols()));
  });
  return product;
}

}  // namespace attnscope
