// One of the two attentions of a layer of Fastformer: the query-attention pools queries, the
// key-attention their mean times the keys.
#pragma once

#include "core/model/layer_run.h"

namespace attnscope {

/// What `run.mechanism` makes of the rows of `pooled` [N, H·d]: additive attention weighs them by
/// the layer's parameter "{which}_importance" and, if it has one, "{which}_importance_bias"; others
/// are asked by `asking` [N, H·d], which the result is multiplied with. `which`: "query" or "key".
///
/// Of the query-attention the maps, map factors and rank bound are recorded; of both the
/// quantities, as "query_logits", "key_importance", …, which additive attention keeps unasked.
[[nodiscard]] Tensor pool_tokens(const LayerRun& run, const Tensor& asking, const Tensor& pooled,
                                 const std::string& which, std::int64_t heads, bool causal);

}  // namespace attnscope
