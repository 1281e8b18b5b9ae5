// How many tokens the stages of a pyramid have.
#pragma once

#include <cstdint>
#include <vector>

#include "core/architecture/model_spec.h"

namespace attnscope {

struct GridExtents {
  std::int64_t rows = 0, columns = 0;

  [[nodiscard]] std::int64_t tokens() const { return rows * columns; }
  bool operator==(const GridExtents&) const = default;
};

/// Zeros around the grid an embedding sees: overlapping kernels are centred, others tile.
[[nodiscard]] constexpr std::int64_t padding_of(const PyramidStage& stage) {
  return stage.kernel > stage.stride ? stage.kernel / 2 : 0;
}

/// The grid of each stage's queries. Throws Error(damaged) naming the stage where the image is too
/// small, or not a multiple of a window that is not filled up.
[[nodiscard]] std::vector<GridExtents> pyramid_grids(const ModelSpec& spec);

/// The grid of the keys and values of a layer that sees all of a stage's grid.
[[nodiscard]] GridExtents key_grid(const PyramidStage& stage, const GridExtents& grid);

/// Whether block `block` of a stage attends within windows.
[[nodiscard]] constexpr bool is_windowed(const PyramidStage& stage, std::int64_t block) {
  return stage.window > 1 && block % 2 == 0;
}

}  // namespace attnscope
