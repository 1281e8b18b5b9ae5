// LayerNorm and RMSNorm.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// y = (x − mean) / √(variance + eps) ⊙ weight + bias over each row. With `rms` the mean is taken
/// as 0.
struct LayerNorm {
  std::vector<float> weight, bias;  ///< [D]
  double eps = 1e-6;
  bool rms = false;

  /// Normalises the rows of `x` [N, D] in place.
  void apply(MatrixMap x) const;
};

/// Normalises consecutive groups of as many channels as `norm` has: each head of a row separately,
/// or whole rows.
void normalise_groups(const LayerNorm& norm, Tensor& rows);

}  // namespace attnscope
