// Relative positions of a grid, one table for its rows and one for its columns, that each query
// meets by a product (Li et al. 2022, MViTv2, Eq. 4; SAM).
#pragma once

#include "core/architecture/pyramid_grid.h"
#include "core/attention/score_terms.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// A table [stored, d] of the offsets −(side − 1) … side − 1 on an axis of any number of cells,
/// brought to `side` cells: [2·side − 1, d], interpolated linearly as PyTorch does without aligned
/// corners. `stored` is odd.
[[nodiscard]] Tensor resample_offsets(const Tensor& table, std::int64_t side);

/// Adds q·rows[y − y′] + q·columns[x − x′] to the scores: of `queries` [rows · columns, H·d] as
/// they are, without the scale of q·k. Tables [2·grid.rows − 1, d] and [2·grid.columns − 1, d].
void add_decomposed(const Tensor& rows, const Tensor& columns, const ConstMatrixMap& queries,
                    std::int64_t heads, const GridExtents& grid, ScoreTerms& terms);

}  // namespace attnscope
