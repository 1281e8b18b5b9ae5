// DAFT with position biases in a window around each token, with its gradient (DAFT, Eq. 7 to 9,
// Algorithm 2, appendix C): own parameters r, γ and β.
#pragma once

#include "core/attention/daft_window.h"
#include "core/training/attention/trained_attention.h"

namespace attnscope {

/// One-hot biases are those of a hard maximum, as at inference; gradients pass it as they pass
/// w ⊙ softmax(w / τ), τ = 0.5: appendix C's Eq. 11 without its noise.
///
/// Throws Error(usage) for windows of two dimensions over tokens that lie on no grid, heads of
/// biases that do not divide the channels, and keys that are not one for each channel: trained
/// layers have as many as queries.
[[nodiscard]] std::unique_ptr<const TrainedAttention> make_daft_window_attention(
    DaftWindowKind kind, const TrainedAttentionForm& form);

}  // namespace attnscope
