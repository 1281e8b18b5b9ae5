#include "core/model/parts/patch_merging.h"

#include <utility>

namespace attnscope {

Tensor PatchMerging::operator()(const Tensor& tokens, const GridExtents& grid) const {
  const std::int64_t width = tokens.extent(1), columns = grid.columns / 2;
  Tensor four({grid.rows / 2 * columns, 4 * width});
  for (std::int64_t cell = 0; cell < four.extent(0); ++cell) {
    const std::int64_t row = 2 * (cell / columns), column = 2 * (cell % columns);
    for (std::int64_t part = 0; part < 4; ++part) {
      const std::int64_t from = (row + part % 2) * grid.columns + column + part / 2;
      four.matrix().row(cell).segment(part * width, width) = tokens.matrix().row(from);
    }
  }
  norm.apply(four.matrix());
  return reduction(std::as_const(four).matrix());
}

}  // namespace attnscope
