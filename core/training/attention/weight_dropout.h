// Dropout of attention weights in a training pass.
#pragma once

#include <cstdint>
#include <optional>

#include "core/tensor/tensor.h"
#include "core/training/learned_parameters/random_numbers.h"

namespace attnscope {

/// Attention weights of one sequence in one layer that are set to 0, as by the `dropout` of
/// torch.nn.MultiheadAttention and timm's attn_drop. Each is a function of the head, the query and
/// the key, so that the backward pass leaves out the same ones.
struct WeightDropout {
  std::optional<RandomNumbers> numbers = {};  ///< the layer's and example's own; empty: no dropout
  double share = 0;                           ///< p, 0 to below 1

  [[nodiscard]] explicit operator bool() const { return numbers.has_value() && share > 0; }
};

/// Multiplies `weights`, those of head `head` from query `first` on with its first keys of `keys`,
/// by 0 with probability p and by 1 / (1 − p) otherwise. Forward and gradient are the same
/// function.
inline void drop_weights(const WeightDropout& dropout, std::int64_t head, std::int64_t first,
                         std::int64_t keys, StridedMatrixMap weights) {
  if (!dropout) return;
  const RandomNumbers own = dropout.numbers->of(static_cast<std::uint64_t>(head));
  const auto kept = static_cast<float>(1 / (1 - dropout.share));
  for (Eigen::Index row = 0; row < weights.rows(); ++row) {
    const auto cell = static_cast<std::uint64_t>((first + row) * keys);
    float* const weight = weights.row(row).data();
    for (Eigen::Index key = 0; key < weights.cols(); ++key) {
      const bool drops = own.uniform(cell + static_cast<std::uint64_t>(key)) < dropout.share;
      weight[key] *= drops ? 0.0F : kept;
    }
  }
}

}  // namespace attnscope
