// Grids of the stages of a pyramid.
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

/// Zero padding before an embedding: kernel / 2 for overlapping kernels, none for others, which
/// tile.
[[nodiscard]] constexpr std::int64_t padding_of(const PyramidStage& stage) {
  return stage.kernel > stage.stride ? stage.kernel / 2 : 0;
}

/// Query grid of each stage. Throws Error(damaged) naming the stage if the image is too small, or
/// if the grid is not a multiple of a window and is not padded.
[[nodiscard]] std::vector<GridExtents> pyramid_grids(const ModelSpec& spec);

/// Grid of the keys and values of a layer that attends to the whole grid of a stage.
[[nodiscard]] GridExtents key_grid(const PyramidStage& stage, const GridExtents& grid);

/// True if block `block` of a stage attends within windows.
[[nodiscard]] constexpr bool is_windowed(const PyramidStage& stage, std::int64_t block) {
  return stage.window > 1 && block % 2 == 0;
}

}  // namespace attnscope
