// Attention transcribed from the equations with loops in double, as the reference for fast kernels
// (naive_twins.h). All functions keep to j ≤ i if input.causal is set.
#pragma once

#include <cstdint>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// The map of one head, [N][M].
using NaiveMap = std::vector<std::vector<double>>;

/// Σ_c |a(i, c) − b(j, c)|.
[[nodiscard]] double naive_l1_distance(const ConstStridedMatrixMap& a, std::int64_t i,
                                       const ConstStridedMatrixMap& b, std::int64_t j);

/// softmax_j(scores(i, j)), over j ≤ i if `causal`.
[[nodiscard]] NaiveMap naive_softmax(NaiveMap scores, bool causal = false);

/// softmax_j(q_i · k_j / √d) (Adder, Eq. 3).
[[nodiscard]] NaiveMap naive_softmax_map(const AttentionInput& input, std::int64_t head);

/// softmax_j(−‖q_i − k_j‖₁ / √(2d(1 − 2/π))) (Adder, Eq. 7), + I (Eq. 20) if `identity`.
[[nodiscard]] NaiveMap naive_adder_map(const AttentionInput& input, std::int64_t head,
                                       bool identity);

/// φ(q_i)·φ(k_j) / Σ_j' φ(q_i)·φ(k_j') with φ = 1 + elu (Katharopoulos et al. 2020, Eq. 7).
[[nodiscard]] NaiveMap naive_linear_map(const AttentionInput& input, std::int64_t head);

/// softmax_j((w·k_j + b) / √d) with w = input.parameters["importance"] [H, d] or [H, H·d] and
/// b = "importance_bias" [H] if it exists, in every row; over j ≤ i if `causal`, over
/// i − window < j ≤ i with a window > 0 (Fastformer-LM, Eq. 4 to 15).
[[nodiscard]] NaiveMap naive_additive_map(const AttentionInput& input, std::int64_t head,
                                          bool causal, std::int64_t window);

/// (h_i·h_j + 2^c) / Σ_j' (h_i·h_j' + 2^c) (EcoFormer, Eq. 7 to 9), or with `upstream`
/// (h_i·h_j + (b + 1) δ_ij) / (h_i·Σ_j' h_j' + (b + 1) N); h = sign(A (κ − μ)) (Eq. 10, 11) with
/// "ksh.A" [H, b, m], "ksh.mvec" [H, m] and "ksh.anchor" [H, m, d] of input.parameters. The
/// kernel's σ is the mean over keys and anchors, or only over anchors if it is causal.
[[nodiscard]] NaiveMap naive_hash_map(const AttentionInput& input, std::int64_t head,
                                      bool upstream);

/// Like naive_hash_map with h = (‖x‖₁ / d) sign(x) of tokens of length 1 (Eq. 5), and a bias of 2.
[[nodiscard]] NaiveMap naive_sign_map(const AttentionInput& input, std::int64_t head,
                                      bool upstream);

/// Adds buffers of a hash function with `supports` supports, as naive_hash_map needs them.
void add_hash_buffers(NamedTensors& parameters, std::int64_t heads, std::int64_t bits,
                      std::int64_t supports, std::int64_t d, unsigned seed);

/// Queries, keys and values of standard normal numbers, owned by the object.
struct RandomAttention {
  Tensor queries, keys, values;
  std::int64_t heads;
  NamedTensors parameters;

  RandomAttention(std::int64_t n, std::int64_t m, std::int64_t head_count, std::int64_t d,
                  std::int64_t dv, unsigned seed);
  [[nodiscard]] AttentionInput input() const;
};

/// Standard normal numbers, the same on every machine.
[[nodiscard]] Tensor random_normal(Shape shape, unsigned seed);

}  // namespace attnscope
