// The layers of a loaded model with their gradients: how an answer changes with what each head
// gives. By the backward that training has.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/model/parts/layer_norm.h"
#include "core/tensor/tensor.h"

namespace attnscope {

class Transformer;

/// One layer's heads beside each other, head h in columns h·d … (h + 1)·d − 1.
struct HeadsGradient {
  Matrix values;    ///< [N, D]: v_j
  Matrix attended;  ///< [N, D]: ∂y/∂(W v), y the answer
};

/// The layers of a model, run again from the tokens that the first is given. Scales of scores and
/// of layers are part of the weights here. Memory: the weights in float32, and what the layers
/// compute.
class LayersWithGradient {
 public:
  /// `mechanisms`: of each layer. Throws Error(unsupported) naming the first part that has no
  /// backward, Error(usage) for a mechanism without one.
  LayersWithGradient(const Transformer& model,
                     const std::vector<std::shared_ptr<const Mechanism>>& mechanisms);
  ~LayersWithGradient();
  LayersWithGradient(LayersWithGradient&&) noexcept;
  LayersWithGradient& operator=(LayersWithGradient&&) noexcept;

  /// Takes `tokens` [N, D] through all layers. `of_last` is given what the last one makes of them,
  /// [N, D], and says what ∂y/∂x is there. One for each layer.
  [[nodiscard]] std::vector<HeadsGradient> heads(
      Matrix tokens, const std::function<Matrix(const Matrix& last)>& of_last) const;

 private:
  struct Layer;
  std::vector<std::unique_ptr<const Layer>> layers_;
};

/// What the gradient `dy` of y = norm(x) is to x, rows by themselves, [N, D]. Throws
/// Error(unsupported) for RMS norms.
[[nodiscard]] Matrix gradient_through(const LayerNorm& norm, const Matrix& x, const Matrix& dy);

}  // namespace attnscope
