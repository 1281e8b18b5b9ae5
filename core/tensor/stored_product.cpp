#include "core/tensor/stored_product.h"

#include <algorithm>
#include <cassert>
#include <tbb/parallel_for.h>

#include "core/tensor/blas.h"

namespace attnscope {

void multiply_transposed(ConstStridedMatrixMap x, const TensorView& weights, StridedMatrixMap out) {
  const std::int64_t columns = weights.columns(), rows = weights.rows();
  assert(x.cols() == columns && out.rows() == x.rows() && out.cols() == rows);
  use_one_blas_thread();
  // BLAS copies x into its own order for each tile. Fewer rows per tile would make that cost
  // noticeable; more rows would push the tile (rows × columns × 4 bytes) out of the caches before
  // it is used.
  constexpr std::int64_t kTileRows = 128;
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  tbb::parallel_for(std::int64_t{0}, tiles, [&](std::int64_t tile) {
    const std::int64_t begin = tile * kTileRows, end = std::min(begin + kTileRows, rows);
    thread_local std::vector<float> panel;
    panel.resize(static_cast<std::size_t>((end - begin) * columns));
    weights.rows_to_float(begin, end, panel.data());
    multiply_transposed(
        x, ConstStridedMatrixMap(panel.data(), end - begin, columns, Eigen::OuterStride<>(columns)),
        1.0F,
        StridedMatrixMap(out.data() + begin, out.rows(), end - begin,
                         Eigen::OuterStride<>(out.outerStride())));
  });
}

}  // namespace attnscope
