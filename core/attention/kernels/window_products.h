// Sums over the taps of a window per channel, for DAFT's convolutions.
#pragma once

#include <cstdint>

namespace attnscope {

/// Number of channels in a row, summed together.
inline constexpr std::int64_t kWindowChannels = 32;

/// sums[t, c] += Σ_s taps[s, c] · x[t + s, c] for `tokens` tokens, s from 0 to `count` − 1, and
/// kWindowChannels channels. Rows are contiguous, kWindowChannels numbers each; x has tokens +
/// count − 1 rows.
void add_window_products(const float* x, std::int64_t tokens, const float* taps, std::int64_t count,
                         float* sums);

}  // namespace attnscope
