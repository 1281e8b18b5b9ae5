// Parts of a layer around a recurrent mechanism: short convolutions of queries, keys and values,
// and the gates that the layer computes from its input.
#pragma once

#include <optional>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/model/parts/linear.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// y_t = silu(Σ_i w_i ⊙ x_{t−k+1+i} + b), each channel by itself, with zeros before the first
/// token.
struct ShortConvolution {
  Tensor kernels;           ///< [C, k], the last tap that of the token itself
  std::vector<float> bias;  ///< [C], or empty

  /// Convolves the rows [N, C] in place.
  void apply(Tensor& rows) const;
};

/// The gates of a layer with a recurrent mechanism.
struct RecurrentGates {
  DecayGate form = DecayGate::none;
  double divisor = 1;
  std::optional<Linear> hidden;  ///< D → r, before `decay`
  std::optional<Linear> decay;   ///< x W + b of DecayGate
  std::vector<float> rate;       ///< [H], a of DecayGate::softplus
  std::optional<Linear> beta;    ///< D → H

  [[nodiscard]] bool empty() const { return !decay && !beta; }
  /// Adds the tensors "log_decay", "step" (DecayGate::softplus) and "beta" of the tokens [N, D]
  /// that `parameters` lacks.
  void add(ConstMatrixMap tokens, std::int64_t heads, NamedTensors& parameters) const;
};

/// Multiplies the heads' output by σ or silu of the `gate` of its shape.
void apply_gate(OutputGate form, Tensor gate, Tensor& output);

}  // namespace attnscope
