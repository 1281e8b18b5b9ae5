// The MLP of a layer.
#pragma once

#include <optional>

#include "core/architecture/pyramid_grid.h"
#include "core/model/parts/activation.h"
#include "core/model/parts/convolution.h"
#include "core/model/parts/linear.h"

namespace attnscope {

/// mlp2(act(mlp1 x)); gated mlp2(act(gate x) ⊙ mlp1 x); of PVTv2 mlp2(act(convolution(mlp1 x))).
/// With a norm, mlp2 reads what it makes of them.
struct Mlp {
  Linear mlp1, mlp2;
  std::optional<Linear> gate;
  std::optional<DepthwiseConvolution> convolution;
  std::optional<LayerNorm> norm;  ///< of what mlp2 reads (EVA-02)
  bool relu_first = false;        ///< before the convolution (PVTv2-Li)
  Activation activation = Activation::gelu;

  /// [N, D] → [N, D]; `grid`: of the tokens, for a convolution.
  [[nodiscard]] Tensor operator()(ConstMatrixMap tokens, const GridExtents& grid) const;

 private:
  [[nodiscard]] Tensor of_tokens(ConstMatrixMap tokens, const GridExtents& grid) const;
};

}  // namespace attnscope
