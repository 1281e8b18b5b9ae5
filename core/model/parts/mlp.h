// The MLP of a layer.
#pragma once

#include <optional>

#include "core/architecture/pyramid_grid.h"
#include "core/model/parts/activation.h"
#include "core/model/parts/convolution.h"
#include "core/model/parts/linear.h"

namespace attnscope {

/// Computes mlp2(act(mlp1 x)); gated: mlp2(act(gate x) ⊙ mlp1 x); PVTv2: mlp2(act(convolution(mlp1
/// x))). The optional norm is applied to the input of mlp2.
struct Mlp {
  Linear mlp1, mlp2;
  std::optional<Linear> gate;
  std::optional<DepthwiseConvolution> convolution;
  std::optional<LayerNorm> norm;  ///< norm of the input of mlp2 (EVA-02)
  bool relu_first = false;        ///< true for a ReLU before the convolution (PVTv2-Li)
  float clip = 0;                 ///< MlpSpec::clip
  Activation activation = Activation::gelu;

  /// Maps [N, D] to [N, D]. `grid` is the grid of the tokens, used by the convolution.
  [[nodiscard]] Tensor operator()(ConstMatrixMap tokens, const GridExtents& grid) const;

 private:
  [[nodiscard]] Tensor of_tokens(ConstMatrixMap tokens, const GridExtents& grid) const;
};

}  // namespace attnscope
