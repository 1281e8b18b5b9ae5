// What a layer adds to its scores, or hides of them, for where queries and keys are.
#pragma once

#include <cstdint>
#include <vector>

#include "core/architecture/spec/layer_spec.h"
#include "core/attention/score_terms.h"
#include "core/attention/token_layout.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// The slopes m_h of `heads` heads (Press et al. 2022, section 3): 2^(−maximum · h / P), h = 1 … P,
/// of the greatest power of two P ≤ heads; of further heads those of 2P at odd h.
[[nodiscard]] std::vector<double> alibi_slopes(std::int64_t heads, double maximum);

/// The bucket of a key `distance` = j − i after a query (Raffel et al. 2020, appendix): causal, the
/// later ones are all in bucket 0; else half of the buckets are theirs.
[[nodiscard]] std::int64_t distance_bucket(std::int64_t distance, std::int64_t buckets,
                                           std::int64_t furthest, bool causal);

/// The bucket of a query `distance` = i − j after a key, −buckets … buckets: those of short
/// distances hold one, further ones grow with their logarithm up to `furthest` (He et al. 2021;
/// transformers' make_log_bucket_position); with `furthest` 0 all hold one. Those beyond the ends
/// belong to the last.
[[nodiscard]] std::int64_t relative_bucket(std::int64_t distance, std::int64_t buckets,
                                           std::int64_t furthest);

/// Queries and keys of a layer's tokens [N, H·d], and of the embeddings of its relative positions
/// [2·buckets, H·d].
struct DisentangledTerms {
  const Tensor& queries;
  const Tensor& keys;
  const Tensor& relative_queries;
  const Tensor& relative_keys;
  double scale = 1;  ///< of all products
};

/// Adds scale · (q_i·Kr + k_j·Qr) of the bucket of i − j to the scores (He et al. 2021, Eq. 4).
void add_disentangled(const LayerSpec& layer, const DisentangledTerms& from, ScoreTerms& terms);

/// Bias [H, N, N] of a table [(2·rows − 1)(2·columns − 1) (+ 3), H] of offsets on the grid of
/// patches. Its last three rows, of a table that has them, are class → patch, patch → class and
/// class → class (BEiT); without them there are no prefix tokens. Throws Error(damaged).
[[nodiscard]] Tensor grid_bias(const Tensor& table, const TokenLayout& layout);

/// The terms of one layer on `tokens` tokens. `table`: its learned biases, [buckets, H] or as
/// grid_bias; `sinks` [H]; either may be empty. A window that hides nothing is no term; nor are
/// windows of the grid and their tables, whose terms are of each window (WindowedAttention).
[[nodiscard]] ScoreTerms score_terms(const LayerSpec& layer, const TokenLayout& layout,
                                     std::int64_t tokens, const Tensor& table,
                                     const std::vector<float>& sinks);

}  // namespace attnscope
