// Fastformer's two additive attentions: the query-attention pools queries, and the key-attention
// pools the product of its result and the keys (Wu et al. 2021, Eq. 3 to 6).
#pragma once

#include "core/model/parts/block.h"

namespace attnscope {

/// Applies the attention in place for LayerForm::fastformer, fastformer_rescaled or
/// fastformer_encoder.
///
/// Records the maps and map factors of the query-attention, and the quantities of both attentions:
/// "query_logits", "key_logits", "query_importance" and "key_importance" (each [H, N]; importance
/// over the whole text), even if not requested. Another mechanism replaces both poolings. Its
/// queries are the vectors that a mean is multiplied with: the keys in the query-attention, the
/// values in the key-attention.
void run_fastformer_attention(const Block& block, const LayerRun& run, Tensor& x);

/// Computes (x − mean) / (deviation + 1e-5) within each head, with the sample deviation (n − 1).
/// Fastformer-LM's later code normalises the pooled vectors in this way.
void rescale_heads(MatrixMap x, std::int64_t heads);

}  // namespace attnscope
