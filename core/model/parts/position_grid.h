// Resamples position embeddings and tables of relative positions to a grid of patches, or windows,
// other than the trained one.
#pragma once

#include "core/architecture/model_spec.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct PositionGrid {
  std::int64_t rows = 0, columns = 0;

  bool operator==(const PositionGrid&) const = default;
};

/// Resamples positions [from.rows · from.columns, D] to [to.rows · to.columns, D]; unchanged if the
/// grids are equal. Matches torch.nn.functional.interpolate with mode="bicubic" and
/// align_corners=False (a = −0.75, edges clamped, pixel centres at half integers), with
/// antialias=True (a = −0.5), with scale_factor = (to + 0.1) / from, or with mode="bilinear" and
/// align_corners=True.
[[nodiscard]] Tensor resample_positions(const Tensor& positions, const PositionGrid& from,
                                        const PositionGrid& to, PositionResize resize);

/// The same by torch.nn.functional.interpolate with mode="bilinear" and align_corners=False.
[[nodiscard]] Tensor resample_bilinearly(const Tensor& positions, const PositionGrid& from,
                                         const PositionGrid& to);

/// Resamples a table [(2·rows − 1)(2·columns − 1) + classes, H] of offsets to `grid`. The last
/// `classes` (0 or 3) rows belong to the class token and are kept. A table of a different size must
/// be that of a square grid. `geometric` interpolates linearly between offsets with geometrically
/// growing spacing (ratio 1.01 to 1.5, starting at 1, ending at the last offset of the grid), as
/// timm's resize_rel_pos_bias_table. `bilinear` is torch.nn.functional.interpolate with
/// align_corners=False. Throws Error(damaged) if the table is not that of a square grid.
[[nodiscard]] Tensor table_of_grid(Tensor table, const PositionGrid& grid, std::int64_t classes,
                                   TableResize resize);

}  // namespace attnscope
