#include "core/model/parts/stem.h"

#include <utility>

#include "core/model/parts/activation.h"

namespace attnscope {

Tensor Stem::operator()(const Tensor& image) const {
  GridExtents grid{image.extent(1), image.extent(2)};
  const ConstMatrixMap planes(image.data(), image.extent(0), grid.tokens());
  Tensor cells({grid.tokens(), image.extent(0)});
  cells.matrix() = planes.transpose();
  for (const Layer& layer : layers) {
    cells = layer.convolution(cells, grid);
    grid = layer.convolution.output_grid(grid);
    if (layer.norm) layer.norm->apply(cells.matrix());
    apply_activation(activation, cells.values());
  }
  Tensor result({cells.extent(1), grid.rows, grid.columns});
  MatrixMap(result.data(), cells.extent(1), grid.tokens()) =
      std::as_const(cells).matrix().transpose();
  return result;
}

}  // namespace attnscope
