// DAFT-full over all keys, by blocks of queries.
#pragma once

#include "core/attention/daft_full_bias.h"

namespace attnscope {

/// Y = σ(Q) ⊙ exp(w)(exp(K) ⊙ V) / exp(w)exp(K) into `output` [N, D], not causal; at least one key.
/// Elements whose denominator is too small for float32 are left to daft_element. Same to the bit
/// for any number of threads.
void attend_by_blocks(const AttentionInput& input, const DaftChannels& channels,
                      const FullBias& bias, Tensor& output);

}  // namespace attnscope
