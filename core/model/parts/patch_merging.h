// Merges 2 × 2 neighbouring patches into one, for a coarser grid (Liu et al. 2021, section 3.1).
#pragma once

#include "core/architecture/pyramid_grid.h"
#include "core/model/parts/layer_norm.h"
#include "core/model/parts/linear.h"

namespace attnscope {

/// Computes reduction(norm([x(0,0), x(1,0), x(0,1), x(1,1)])) for each 2 × 2 cells (row, column).
/// An odd last row or column is merged with zeros.
struct PatchMerging {
  LayerNorm norm;    ///< [4·D]
  Linear reduction;  ///< 4·D → the next stage's width

  /// Maps [grid, D] to [half the rows · half the columns, width], rounded up.
  [[nodiscard]] Tensor operator()(const Tensor& tokens, const GridExtents& grid) const;
};

}  // namespace attnscope
