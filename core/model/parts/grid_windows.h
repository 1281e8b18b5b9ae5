// Windows of a grid of patches: tiles (Twins, SAM), and those that every other layer shifts by half
// (Liu et al. 2021, section 3.2).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/architecture/pyramid_grid.h"
#include "core/architecture/spec/layer_spec.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// A window of a grid, or what shifting leaves of one.
struct GridWindow {
  GridExtents extents;
  std::vector<std::int64_t> tokens;  ///< of its cells, row by row; −1 where a zero fills it

  bool operator==(const GridWindow&) const = default;
};

/// Windows of `side` × `side`; zeros fill those at the last edges.
[[nodiscard]] std::vector<GridWindow> tiled_windows(const GridExtents& grid, std::int64_t side);

/// Windows that begin side / 2 cells later; what they lose at the first edges are windows of their
/// own. `filling` says where the zeros go that make whole windows of the grid. Along an axis of one
/// window nothing shifts, as in timm; but for WindowFilling::after_shift along no axis then.
[[nodiscard]] std::vector<GridWindow> shifted_windows(const GridExtents& grid, std::int64_t side,
                                                      WindowFilling filling);

/// Adds what `table` [(2·side − 1)², H] has for the offset of query and key in a window of `window`
/// cells, at most `side` to each side. Throws Error(damaged) for another table.
[[nodiscard]] std::function<void(std::int64_t head, std::int64_t query, std::span<float> scores)>
window_bias(const Tensor& table, const GridExtents& window, std::int64_t side);

}  // namespace attnscope
