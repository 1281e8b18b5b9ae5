// Convolution along a sequence, with zero padding at both ends.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/parts/linear.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Works like PyTorch's Conv1d with an odd kernel and padding kernel / 2. Each group of channels
/// has a linear layer [out / groups, in / groups · kernel], applied to `kernel` consecutive tokens.
struct SequenceConvolution {
  std::vector<Linear> groups;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;

  /// Maps [N, in] to [⌈N / stride⌉, out].
  [[nodiscard]] Tensor operator()(const Tensor& tokens) const;
};

/// norm(tokens + act(convolution(embedded))), applied after the first layer (large DeBERTa v2
/// models).
struct FirstConvolution {
  SequenceConvolution convolution;
  LayerNorm norm;
  Activation activation = Activation::gelu;

  /// `embedded` is the input of the first layer and `tokens` its output, both [N, D].
  void apply(const Tensor& embedded, Tensor& tokens) const;
};

}  // namespace attnscope
