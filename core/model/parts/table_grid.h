// Tables of relative positions for another grid of patches, or other windows, than they were
// trained on.
#pragma once

#include "core/model/parts/position_grid.h"

namespace attnscope {

/// Of a table [(2·rows − 1)(2·columns − 1) + classes, H] of offsets on `grid`, with `classes` (0 or
/// 3) rows of the class token at its end, which stay as they are. A table of another grid is of a
/// square one, and is brought to this. `geometric`: linearly between offsets whose distances grow
/// from 1 on by a factor such that the last of them is the last of the grid (1.01 to 1.5), as
/// timm's resize_rel_pos_bias_table. `bilinear`: as torch.nn.functional.interpolate with
/// align_corners=False. Throws Error(damaged) for a table of no square grid.
[[nodiscard]] Tensor table_of_grid(Tensor table, const PositionGrid& grid, std::int64_t classes,
                                   TableResize resize);

/// Side of the square grid that a table of so many rows without the class token's is of; 0: none.
[[nodiscard]] std::int64_t side_of_table(std::int64_t rows);

}  // namespace attnscope
