// Convolutions over the pixels before the patch embedding.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/spec/stem_spec.h"
#include "core/model/parts/convolution.h"
#include "core/model/parts/layer_norm.h"

namespace attnscope {

/// Applies activation(norm(convolution(…))) layer by layer.
struct Stem {
  struct Layer {
    Convolution convolution;        ///< includes a norm by running statistics, if any
    std::optional<LayerNorm> norm;  ///< norm over the channels of each cell
  };
  std::vector<Layer> layers;  ///< at least one
  Activation activation = Activation::relu;

  /// Maps [C, H, W] to [C′, H′, W′].
  [[nodiscard]] Tensor operator()(const Tensor& image) const;
};

}  // namespace attnscope
