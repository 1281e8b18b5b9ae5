// Dropout and stochastic depth: random omissions in a training pass.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/tensor/tensor.h"
#include "core/training/learned_parameters/random_numbers.h"

namespace attnscope {

/// The random omissions of one part of the network in a training pass. Each is a function of an
/// example's numbers, the place in the network, the row and the column, so that the backward pass
/// draws the same ones again.
struct Omission {
  /// The numbers of each example of the pass; empty in a test, which omits nothing.
  std::span<const RandomNumbers> examples = {};
  double dropout = 0;            ///< p, 0 to below 1: share of the numbers that are set to 0
  double attention_dropout = 0;  ///< share of the attention weights that are set to 0
  double drop_path = 0;          ///< share of the branches that are set to 0, 0 to below 1
  std::uint64_t place = 0;       ///< number of the part's first place
  /// The numbers of the layer's noise on position biases, the same for all examples; empty: none.
  std::optional<RandomNumbers> bias_noise = {};

  [[nodiscard]] explicit operator bool() const {
    return !examples.empty() && (dropout > 0 || drop_path > 0);
  }
};

/// Multiplies `rows` [Σ lengths, D], which holds the tokens of consecutive examples, by the mask of
/// the part's place number `place` (from 0). An element's mask is 0 with probability p and
/// 1 / (1 − p) otherwise (Srivastava et al. 2014, as torch.nn.Dropout). An example's branch is
/// multiplied by 0 with probability p and by 1 / (1 − p) otherwise (Huang et al. 2016, as timm's
/// DropPath). Forward and gradient are the same function.
void omit(const Omission& omission, std::uint64_t place, std::span<const std::int64_t> lengths,
          Matrix& rows);

/// The share of branches dropped in layer `layer` of `layers`, last · layer / (layers − 1); 0 if
/// there is one layer.
[[nodiscard]] double drop_path_of_layer(double last, std::int64_t layer, std::int64_t layers);

}  // namespace attnscope
