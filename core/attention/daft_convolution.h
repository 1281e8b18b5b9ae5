// DAFT-conv's sums (DAFT, Eq. 8): a window's taps, and everything outside it.
#pragma once

#include "core/attention/daft_window.h"

namespace attnscope {

/// σ(Q) ⊙ Σ exp(K + w) V / Σ exp(K + w), [N, D], in time N·(taps + rows) a channel. Where Eq. 8
/// adds (exp(r) − 1) over the window to the sum over all tokens, what lies outside the window is
/// summed by itself: nothing is subtracted, so that biases of −80 cancel nothing.
[[nodiscard]] Tensor daft_convolution(const AttentionInput& input, const DaftChannels& channels,
                                      const DaftWindow& window);

}  // namespace attnscope
