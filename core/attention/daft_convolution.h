// Output of DAFT-conv (DAFT, Eq. 8): sums over a window's taps and over everything outside it.
#pragma once

#include "core/attention/daft_window.h"

namespace attnscope {

/// σ(Q) ⊙ Σ exp(K + w) V / Σ exp(K + w), [N, D], in time N·(taps + rows) per channel. Eq. 8 adds
/// (exp(r) − 1) over the window to the sum over all tokens. Here the tokens outside the window are
/// summed separately: without a subtraction, biases of −80 cause no cancellation.
[[nodiscard]] Tensor daft_convolution(const AttentionInput& input, const DaftChannels& channels,
                                      const DaftWindow& window);

}  // namespace attnscope
