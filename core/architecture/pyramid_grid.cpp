#include "core/architecture/pyramid_grid.h"

#include <string>

#include "core/error.h"

namespace attnscope {

namespace {

std::int64_t convolved(std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                       std::int64_t padding) {
  const std::int64_t room = extent + 2 * padding - kernel;
  return room < 0 ? 0 : room / stride + 1;
}

std::string text(const GridExtents& grid) {
  return std::to_string(grid.rows) + " × " + std::to_string(grid.columns);
}

Error grid_misfit(std::string what, std::size_t stage) {
  return Error(ErrorKind::damaged, std::move(what) + " of stage " + std::to_string(stage + 1))
      .about("image_height");
}

/// Throws unless grids are padded before the shift: only transformers pads grids of odd side before
/// merging. timm's windows cover the grid without the odd patches.
void check_odd(const ModelSpec& spec, const GridExtents& grid, std::size_t stage) {
  if (spec.layer.scores.window_filling == WindowFilling::before_shift) return;
  throw grid_misfit("the grid before the merging of patches", stage)
      .expected("an even number of patches a side")
      .found(text(grid));
}

void check_windows(const ModelSpec& spec, const GridExtents& grid, std::size_t index) {
  const std::int64_t window = spec.stages[index].window;
  if (grid.rows % window == 0 && grid.columns % window == 0) return;
  const bool filled =
      spec.shifts_windows() && spec.layer.scores.window_filling != WindowFilling::none;
  if (filled && grid.rows >= window && grid.columns >= window) return;
  throw grid_misfit(
      filled ? "the grid is smaller than the windows" : "the grid does not split into the windows",
      index)
      .expected(filled ? "at least " + std::to_string(window) + " patches a side"
                       : "a multiple of " + std::to_string(window) + " a side")
      .found(text(grid))
      .remedy("224 pixels a side fit windows of 7 in every stage");
}

}  // namespace

GridExtents key_grid(const PyramidStage& stage, const GridExtents& grid) {
  if (stage.pooled > 0) return {stage.pooled, stage.pooled};
  return {convolved(grid.rows, stage.reduction, stage.reduction, 0),
          convolved(grid.columns, stage.reduction, stage.reduction, 0)};
}

std::vector<GridExtents> pyramid_grids(const ModelSpec& spec) {
  std::vector<GridExtents> grids;
  GridExtents grid{spec.input.image_height, spec.input.image_width};
  for (std::size_t i = 0; i < spec.stages.size(); ++i) {
    const PyramidStage& stage = spec.stages[i];
    const std::int64_t padding = padding_of(stage);
    const bool merges = spec.shifts_windows() && i > 0;
    if (merges) {
      if (grid.rows % 2 != 0 || grid.columns % 2 != 0) check_odd(spec, grid, i);
      grid = {grid.rows + grid.rows % 2, grid.columns + grid.columns % 2};
    }
    grid = {convolved(grid.rows, stage.kernel, stage.stride, padding),
            convolved(grid.columns, stage.kernel, stage.stride, padding)};
    if (grid.tokens() < 1) throw grid_misfit("the image is too small for the embedding", i);
    if (key_grid(stage, grid).tokens() < 1) {
      throw grid_misfit("the grid is too small for the spatial reduction", i)
          .expected("at least " + std::to_string(stage.reduction) + " cells a side")
          .found(text(grid));
    }
    if (is_windowed(stage, 0)) check_windows(spec, grid, i);
    grids.push_back(grid);
  }
  return grids;
}

}  // namespace attnscope
