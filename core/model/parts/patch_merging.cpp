#include "core/model/parts/patch_merging.h"

#include <utility>

namespace attnscope {

Tensor PatchMerging::operator()(const Tensor& tokens, const GridExtents& grid) const {
  const std::int64_t width = tokens.extent(1), columns = (grid.columns + 1) / 2;
  Tensor four({(grid.rows + 1) / 2 * columns, 4 * width});
  for (std::int64_t cell = 0; cell < four.extent(0); ++cell) {
    for (std::int64_t part = 0; part < 4; ++part) {
      const std::int64_t row = 2 * (cell / columns) + part % 2;
      const std::int64_t column = 2 * (cell % columns) + part / 2;
      if (row >= grid.rows || column >= grid.columns) continue;
      four.matrix().row(cell).segment(part * width, width) =
          tokens.matrix().row(row * grid.columns + column);
    }
  }
  norm.apply(four.matrix());
  return reduction(std::as_const(four).matrix());
}

}  // namespace attnscope
