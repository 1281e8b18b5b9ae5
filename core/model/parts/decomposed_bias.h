// Relative positions on a grid with one table for rows and one for columns, each multiplied with
// the query (Li et al. 2022, MViTv2, Eq. 4; SAM).
#pragma once

#include "core/architecture/pyramid_grid.h"
#include "core/attention/score_terms.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Resamples a table [stored, d] of offsets along one axis to [2·side − 1, d], for the offsets
/// −(side − 1) … side − 1. Interpolates linearly like PyTorch with align_corners=False. `stored`
/// must be odd.
[[nodiscard]] Tensor resample_offsets(const Tensor& table, std::int64_t side);

/// Adds q·rows[y − y′] + q·columns[x − x′] to the scores, for `queries` [rows · columns, H·d]
/// without the scale of q·k. The tables are [2·grid.rows − 1, d] and [2·grid.columns − 1, d].
void add_decomposed(const Tensor& rows, const Tensor& columns, const ConstMatrixMap& queries,
                    std::int64_t heads, const GridExtents& grid, ScoreTerms& terms);

}  // namespace attnscope
