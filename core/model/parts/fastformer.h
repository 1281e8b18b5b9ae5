// Fastformer's two additive attentions: the query-attention pools queries, and its mean times the
// keys is what the key-attention pools (Wu et al. 2021, Eq. 3 to 6).
#pragma once

#include "core/model/parts/block.h"

namespace attnscope {

/// In place, of a layer of LayerForm::fastformer, fastformer_rescaled or fastformer_encoder.
///
/// Records the maps and map factors of the query-attention, and quantities of both: "query_logits",
/// "key_logits", "query_importance", "key_importance" (each [H, N]; importance over the whole
/// text), which are kept unasked. Another mechanism takes the place of both poolings. What a mean
/// is multiplied with asks for it: keys are the queries of the query-attention, values those of the
/// key-attention.
void run_fastformer_attention(const Block& block, const LayerRun& run, Tensor& x);

/// (x − mean) / (deviation + 1e-5) within each head, the deviation being the sample's (n − 1): how
/// Fastformer-LM's later code normalises what is pooled.
void rescale_heads(MatrixMap x, std::int64_t heads);

}  // namespace attnscope
