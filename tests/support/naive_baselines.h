// The baselines transcribed from their papers with loops in double. All functions read the tensors
// that their files document from input.parameters, and keep to j ≤ i if input.causal is set.
#pragma once

#include "tests/support/naive_attention.h"

namespace attnscope {

/// φ(q_i)·φ(k_j) / Σ_j' φ(q_i)·φ(k_j'), φ_f(x) = exp(ω_f·x' − ‖x'‖²/2) with x' = x/d^¼, or
/// ReLU(ω_f·x') + 0.001 (Choromanski et al. 2020); "features" [F, d] or
/// [H, F, d].
[[nodiscard]] NaiveMap naive_performer_map(const AttentionInput& input, std::int64_t head,
                                           bool relu);

/// softmax(Q (E K)ᵀ/√d) · F (Wang et al. 2020, Eq. 7); "E" and "F" [k, M] or [H, k, M].
[[nodiscard]] NaiveMap naive_linformer_map(const AttentionInput& input, std::int64_t head);

/// softmax over the tokens that share bucket and chunk (or the chunk before) in any round (Kitaev
/// et al. 2020, Section 2); "rotations" [rounds, d, buckets/2].
[[nodiscard]] NaiveMap naive_reformer_map(const AttentionInput& input, std::int64_t head,
                                          std::int64_t chunk);

/// softmax of scores: "R" [H, N, M] (random), "R1" [H, N, k] and "R2" [H, M, k] (factorised), or
/// "W1" [H, d, d], "b1" [H, d], "W2" [H, M, d], "b2" [H, M] (dense) (Tay et al. 2020).
[[nodiscard]] NaiveMap naive_synthesizer_map(const AttentionInput& input, std::int64_t head,
                                             const std::string& scores);

}  // namespace attnscope
