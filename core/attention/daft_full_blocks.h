// DAFT-full over all keys, by blocks of queries.
#pragma once

#include "core/attention/daft_full_bias.h"

namespace attnscope {

/// exp(w)(exp(K) ⊙ V) and exp(w)exp(K) of a query's channels from `channel` on.
struct DaftSums {
  std::int64_t query, channel, count;
  const float *numerators, *denominators;
};

/// `out`, σ(Q) of these channels, times numerator / denominator. Elements whose denominator is too
/// small for float32 are left to daft_element.
void multiply_by_means(const AttentionInput& input, const DaftChannels& channels,
                       const FullBias& bias, const DaftSums& sums, float* out);

/// Y = σ(Q) ⊙ exp(w)(exp(K) ⊙ V) / exp(w)exp(K) into `output` [N, D], not causal; at least one key.
/// Same to the bit for any number of threads.
void attend_by_blocks(const AttentionInput& input, const DaftChannels& channels,
                      const FullBias& bias, Tensor& output);

}  // namespace attnscope
