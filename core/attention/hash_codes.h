// Kernelised hash codes of tokens (EcoFormer, Eq. 10 and 11).
#pragma once

#include <cstdint>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Bits of one head's tokens: +1 and −1 as floats, and packed, bit r of word i set for +1.
struct HashCodes {
  Matrix signs;                      ///< [N, b]; 0 only where `zero_is_zero` was asked for
  std::vector<std::uint64_t> words;  ///< [N]
};

/// h_r = sign(Σ_a A(r, a) (κ(anchor_a, x) − μ_a)) with κ(a, x) = exp(−‖x − a‖² / (2σ)), x scaled to
/// length 1, and σ the mean of ‖x − a‖² over the tokens and anchors at hand.
struct HashFunction {
  MatrixD weights;        ///< A [b, m], b ≤ 64
  MatrixD anchors;        ///< [m, d]
  Eigen::VectorXd means;  ///< μ [m]
  double bandwidth = 1;   ///< σ

  /// sign(0) is +1 (a bit has two values), or 0 as upstream if `zero_is_zero`.
  [[nodiscard]] HashCodes codes_of(const ConstStridedMatrixMap& tokens, bool zero_is_zero) const;
};

/// The hash function of one head for its keys [M, d]. From `parameters` where they hold "ksh.A"
/// [H, b, m], "ksh.mvec" [H, m] and "ksh.anchor" [H, m, d] (upstream's buffers, leading 1s
/// allowed); else KLSH: A random normal, the same for every input, anchors evenly spaced tokens, μ
/// their mean kernel. Throws Error(usage) for buffers of another shape, and for more supports than
/// tokens.
[[nodiscard]] HashFunction hash_function(const NamedTensors* parameters, std::int64_t heads,
                                         std::int64_t head, const ConstStridedMatrixMap& keys,
                                         std::int64_t bits, std::int64_t supports);

}  // namespace attnscope
