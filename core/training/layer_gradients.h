// Gradients through the layers of a loaded model, using the backward pass of training: how an
// answer changes with the output of each head.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/model/parts/layer_norm.h"
#include "core/tensor/tensor.h"

namespace attnscope {

class Transformer;

/// One layer's heads next to each other, head h in columns h·d … (h + 1)·d − 1.
struct HeadsGradient {
  Matrix values;    ///< [N, D]: v_j
  Matrix attended;  ///< [N, D]: ∂y/∂(W v), with the answer y
};

/// The layers of a model, run again from the input of the first one. The weights here include the
/// scales of scores and of layers. Memory: the weights in float32, and the results of the layers.
class LayersWithGradient {
 public:
  /// `mechanisms` has one entry per layer. Throws Error(unsupported) naming the first part without
  /// a backward pass, and Error(usage) for a mechanism without one.
  LayersWithGradient(const Transformer& model,
                     const std::vector<std::shared_ptr<const Mechanism>>& mechanisms);
  ~LayersWithGradient();
  LayersWithGradient(LayersWithGradient&&) noexcept;
  LayersWithGradient& operator=(LayersWithGradient&&) noexcept;

  /// Runs `tokens` [N, D] through all layers. `of_last` receives the output of the last one, [N,
  /// D], and returns ∂y/∂x at it. The result has one element per layer.
  [[nodiscard]] std::vector<HeadsGradient> heads(
      Matrix tokens, const std::function<Matrix(const Matrix& last)>& of_last) const;

 private:
  struct Layer;
  std::vector<std::unique_ptr<const Layer>> layers_;
};

/// Converts the gradient `dy` of y = norm(x) to that of x, row by row, [N, D]. Throws
/// Error(unsupported) for RMS norms.
[[nodiscard]] Matrix gradient_through(const LayerNorm& norm, const Matrix& x, const Matrix& dy);

}  // namespace attnscope
