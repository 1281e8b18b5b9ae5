// A convolution along a sequence, with zeros before and after it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/parts/linear.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// As PyTorch's Conv1d with an odd kernel and padding kernel / 2: of each group of channels a
/// linear layer [out / groups, in / groups · kernel], of tokens that lie `kernel` in a row.
struct SequenceConvolution {
  std::vector<Linear> groups;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;

  /// [N, in] → [⌈N / stride⌉, out].
  [[nodiscard]] Tensor operator()(const Tensor& tokens) const;
};

/// norm(tokens + act(convolution(embedded))), after the first layer (DeBERTa v2, large ones).
struct FirstConvolution {
  SequenceConvolution convolution;
  LayerNorm norm;
  Activation activation = Activation::gelu;

  /// `embedded`: what the first layer was given; `tokens`: what it gave; both [N, D].
  void apply(const Tensor& embedded, Tensor& tokens) const;
};

}  // namespace attnscope
