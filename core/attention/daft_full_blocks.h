// DAFT-full over all keys, computed in blocks of queries.
#pragma once

#include "core/attention/daft_full_bias.h"

namespace attnscope {

/// Numerators exp(w)(exp(K) ⊙ V) and denominators exp(w)exp(K) of `count` channels of a query, from
/// `channel` on.
struct DaftSums {
  std::int64_t query, channel, count;
  const float *numerators, *denominators;
};

/// Multiplies `out`, which holds σ(Q) of these channels, by numerator / denominator. daft_element
/// computes the elements whose denominator is too small for float32.
void multiply_by_means(const AttentionInput& input, const DaftChannels& channels,
                       const FullBias& bias, const DaftSums& sums, float* out);

/// Y = σ(Q) ⊙ exp(w)(exp(K) ⊙ V) / exp(w)exp(K) into `output` [N, D], not causal; at least one key.
/// The result is bitwise the same for any number of threads.
void attend_by_blocks(const AttentionInput& input, const DaftChannels& channels,
                      const FullBias& bias, Tensor& output);

}  // namespace attnscope
