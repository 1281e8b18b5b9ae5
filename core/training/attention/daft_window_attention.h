// DAFT with position biases in a window around each token, with its gradient (DAFT, Eq. 7 to 9,
// Algorithm 2, appendix C). The own parameters are r, γ and β.
#pragma once

#include "core/attention/daft_window.h"
#include "core/training/attention/trained_attention.h"

namespace attnscope {

/// One-hot biases use the hard maximum, as at inference; gradients pass through it as through w ⊙
/// softmax(w / τ), τ = 0.5, which is appendix C's Eq. 11 without noise.
///
/// Throws Error(usage) for windows of two dimensions over tokens without a grid, and if the heads
/// of biases do not divide the channels.
[[nodiscard]] std::unique_ptr<const TrainedAttention> make_daft_window_attention(
    DaftWindowKind kind, const TrainedAttentionForm& form);

}  // namespace attnscope
