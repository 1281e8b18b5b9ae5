// Terms that a layer adds to its scores, or masks, depending on the positions of queries and keys.
#pragma once

#include <cstdint>
#include <vector>

#include "core/architecture/layer_spec.h"
#include "core/architecture/pyramid_grid.h"
#include "core/attention/score_terms.h"
#include "core/attention/token_layout.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// ALiBi's slopes m_h for `heads` heads (Press et al. 2022, section 3): 2^(−maximum · h / P), h = 1
/// … P, with the greatest power of two P ≤ heads. The remaining heads get those of 2P at odd h.
[[nodiscard]] std::vector<double> alibi_slopes(std::int64_t heads, double maximum);

/// The bucket of a key at `distance` = j − i from a query (Raffel et al. 2020, appendix). If
/// `causal`, all later keys are in bucket 0; otherwise half of the buckets are for later keys.
[[nodiscard]] std::int64_t distance_bucket(std::int64_t distance, std::int64_t buckets,
                                           std::int64_t furthest, bool causal);

/// The bucket of a query at `distance` = i − j from a key, −buckets … buckets − 1. Buckets of short
/// distances hold one distance, further ones grow logarithmically up to `furthest` (He et al. 2021;
/// make_log_bucket_position in transformers); if `furthest` is 0, all hold one. Distances beyond
/// the ends are clamped.
[[nodiscard]] std::int64_t relative_bucket(std::int64_t distance, std::int64_t buckets,
                                           std::int64_t furthest);

/// Queries and keys of a layer's tokens [N, H·d], and of the embeddings of its relative positions
/// [2·buckets, H·d].
struct DisentangledTerms {
  const Tensor& queries;
  const Tensor& keys;
  const Tensor& relative_queries;
  const Tensor& relative_keys;
  double scale = 1;  ///< scale of all products
};

/// Adds scale · (q_i·Kr + k_j·Qr) to the scores, with Kr and Qr of the bucket of i − j (He et al.
/// 2021, Eq. 4).
void add_disentangled(const LayerSpec& layer, const DisentangledTerms& from, ScoreTerms& terms);

/// Expands a table [(2·rows − 1)(2·columns − 1) (+ 3), H] of offsets on the grid of patches to
/// biases [H, N, N]. The optional last three rows are for class → patch, patch → class and class →
/// class (BEiT); without them prefix tokens are not allowed. Throws Error(damaged) if the table
/// does not fit.
[[nodiscard]] Tensor grid_bias(const Tensor& table, const TokenLayout& layout);

/// True if a layer's queries see later keys in this text, those of its picture. The score terms
/// then hide all others.
[[nodiscard]] bool sees_both_ways(const ScoreSpec& scores, const TokenLayout& layout);

/// The score terms of one layer for `tokens` tokens. `table` holds learned biases, [buckets, H] or
/// as in grid_bias, and `sinks` is [H]; either may be empty. Windows that mask nothing are left
/// out, and so are grid windows and their tables, whose terms differ per window
/// (WindowedAttention).
[[nodiscard]] ScoreTerms score_terms(const LayerSpec& layer, const TokenLayout& layout,
                                     std::int64_t tokens, const Tensor& table,
                                     const std::vector<float>& sinks);

// Relative positions on a grid with one table for rows and one for columns, each multiplied with
// the query (Li et al. 2022, MViTv2, Eq. 4; SAM):

/// Resamples a table [stored, d] of offsets along one axis to [2·side − 1, d], for the offsets
/// −(side − 1) … side − 1. Interpolates linearly like PyTorch with align_corners=False. `stored`
/// must be odd.
[[nodiscard]] Tensor resample_offsets(const Tensor& table, std::int64_t side);

/// Adds q·rows[y − y′] + q·columns[x − x′] to the scores, for `queries` [rows · columns, H·d]
/// without the scale of q·k. The tables are [2·grid.rows − 1, d] and [2·grid.columns − 1, d].
void add_decomposed(const Tensor& rows, const Tensor& columns, const ConstMatrixMap& queries,
                    std::int64_t heads, const GridExtents& grid, ScoreTerms& terms);

}  // namespace attnscope
