// Convolutions over the pixels before patches are cut of what they give.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/spec/stem_spec.h"
#include "core/model/parts/convolution.h"
#include "core/model/parts/layer_norm.h"

namespace attnscope {

/// activation(norm(convolution(…))), layer after layer.
struct Stem {
  struct Layer {
    Convolution convolution;        ///< a norm by running statistics is part of it
    std::optional<LayerNorm> norm;  ///< over the channels of each cell
  };
  std::vector<Layer> layers;  ///< one at least
  Activation activation = Activation::relu;

  /// [C, H, W] → [C′, H′, W′].
  [[nodiscard]] Tensor operator()(const Tensor& image) const;
};

}  // namespace attnscope
