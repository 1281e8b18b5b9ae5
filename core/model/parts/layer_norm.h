// LayerNorm and its kin.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// y = (x − mean) / √(variance + eps) ⊙ weight + bias over each row; of rms without the mean.
struct LayerNorm {
  std::vector<float> weight, bias;  ///< [D]
  double eps = 1e-6;
  bool rms = false;

  /// In place over the rows of `x` [N, D].
  void apply(MatrixMap x) const;
};

/// Over each stretch of as many channels as `norm` has: each head's share of a row by itself, or
/// whole rows.
void normalise_stretches(const LayerNorm& norm, Tensor& rows);

}  // namespace attnscope
