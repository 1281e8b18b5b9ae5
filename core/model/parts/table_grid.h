// Resamples tables of relative positions to a grid of patches, or windows, other than the trained
// ones.
#pragma once

#include "core/model/parts/position_grid.h"

namespace attnscope {

/// Resamples a table [(2·rows − 1)(2·columns − 1) + classes, H] of offsets to `grid`. The last
/// `classes` (0 or 3) rows belong to the class token and are kept. A table of a different size must
/// be that of a square grid. `geometric` interpolates linearly between offsets with geometrically
/// growing spacing (ratio 1.01 to 1.5, starting at 1, ending at the last offset of the grid), as
/// timm's resize_rel_pos_bias_table. `bilinear` is torch.nn.functional.interpolate with
/// align_corners=False. Throws Error(damaged) if the table is not that of a square grid.
[[nodiscard]] Tensor table_of_grid(Tensor table, const PositionGrid& grid, std::int64_t classes,
                                   TableResize resize);

/// Side of the square grid of a table with `rows` rows, not counting those of the class token; 0 if
/// there is none.
[[nodiscard]] std::int64_t side_of_table(std::int64_t rows);

}  // namespace attnscope
