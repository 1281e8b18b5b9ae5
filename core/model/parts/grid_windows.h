// Windows of a grid of patches: tiles (Twins, SAM), and windows shifted by half their side in every
// other layer (Liu et al. 2021, section 3.2).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/architecture/pyramid_grid.h"
#include "core/architecture/spec/layer_spec.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// A window of a grid, or the part of one that remains after shifting.
struct GridWindow {
  GridExtents extents;
  std::vector<std::int64_t> tokens;  ///< tokens of its cells, row by row; −1 for zero padding

  bool operator==(const GridWindow&) const = default;
};

/// Windows of `side` × `side`, zero-padded at the last edges.
[[nodiscard]] std::vector<GridWindow> tiled_windows(const GridExtents& grid, std::int64_t side);

/// Windows that begin side / 2 cells later; the parts cut off at the first edges are separate
/// windows. `filling` places the zeros that complete the windows. An axis with a single window is
/// not shifted, as in timm; except for WindowFilling::after_shift, the other axis is then not
/// shifted either.
[[nodiscard]] std::vector<GridWindow> shifted_windows(const GridExtents& grid, std::int64_t side,
                                                      WindowFilling filling);

/// Adds the entries of `table` [(2·side − 1)², H] for the offset of query and key in a window of
/// `window` cells, at most `side` in each direction. Throws Error(damaged) if the table does not
/// fit.
[[nodiscard]] std::function<void(std::int64_t head, std::int64_t query, std::span<float> scores)>
window_bias(const Tensor& table, const GridExtents& window, std::int64_t side);

}  // namespace attnscope
