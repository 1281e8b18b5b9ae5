// LayerNorm and RMSNorm.
#pragma once

#include <vector>

#include "core/architecture/layer_spec.h"
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

/// The norm of this kind with a stored weight, to which rms_plus_one adds 1; an empty bias is 0.
[[nodiscard]] LayerNorm layer_norm(Norm kind, std::vector<float> weight, std::vector<float> bias,
                                   double eps);

/// Normalises consecutive groups of as many channels as `norm` has: each head of a row separately,
/// or whole rows.
void normalise_groups(const LayerNorm& norm, Tensor& rows);

}  // namespace attnscope
