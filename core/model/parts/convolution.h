// Convolutions over tokens on a grid: overlapping patch embeddings, spatial reductions, depthwise
// 3×3. Tokens are [rows · columns, C] in row-major order.
#pragma once

#include <vector>

#include "core/architecture/pyramid_grid.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// A convolution with a square kernel over all channels and zero padding.
class Convolution {
 public:
  Convolution() = default;
  /// The kernel is [out, C, k, k], as in PyTorch's Conv2d; bias is [out] or empty.
  Convolution(const Tensor& kernel, std::vector<float> bias, std::int64_t stride,
              std::int64_t padding);

  [[nodiscard]] std::int64_t outputs() const { return weight_.empty() ? 0 : weight_.extent(0); }
  [[nodiscard]] GridExtents output_grid(const GridExtents& grid) const;

  /// Maps [grid, C] to [output_grid, out]. Rows run in parallel; the result does not depend on the
  /// thread count.
  [[nodiscard]] Tensor operator()(const Tensor& tokens, const GridExtents& grid) const;

 private:
  Tensor weight_;  // [out, k · k · C], so that a cell's channels are copied contiguously
  std::vector<float> bias_;
  std::int64_t kernel_ = 1, stride_ = 1, padding_ = 0, channels_ = 0;
};

/// A depthwise 3×3 convolution with zero padding.
class DepthwiseConvolution {
 public:
  DepthwiseConvolution() = default;
  /// The kernel is [C, 1, 3, 3] or [C, 9]; bias is [C] or empty.
  DepthwiseConvolution(const Tensor& kernel, std::vector<float> bias, std::int64_t stride = 1);

  [[nodiscard]] GridExtents output_grid(const GridExtents& grid) const {
    return {(grid.rows - 1) / stride_ + 1, (grid.columns - 1) / stride_ + 1};
  }
  /// Maps [grid, C] to [output_grid, C].
  [[nodiscard]] Tensor operator()(const Tensor& tokens, const GridExtents& grid) const;

 private:
  Matrix weight_;  // [9, C]
  std::vector<float> bias_;
  std::int64_t stride_ = 1;
};

/// Average pooling to a side × side grid of cells that may overlap, as in PyTorch's
/// AdaptiveAvgPool2d.
[[nodiscard]] Tensor pool_adaptively(const Tensor& tokens, const GridExtents& grid,
                                     std::int64_t side);

}  // namespace attnscope
