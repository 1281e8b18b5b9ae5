// Keys and values computed from a coarser grid (PVT, Wang et al. 2021, Eq. 2; PVTv2-Li).
#pragma once

#include <optional>

#include "core/model/parts/convolution.h"
#include "core/model/parts/layer_norm.h"

namespace attnscope {

struct KeyReduction {
  Convolution convolution;
  std::optional<LayerNorm> norm;
  std::int64_t pooled = 0;  ///< side of the pooled grid before the convolution (PVTv2-Li), or 0

  [[nodiscard]] GridExtents output_grid(const GridExtents& grid) const;
  /// Maps [grid, D] to [output_grid, D].
  [[nodiscard]] Tensor operator()(const Tensor& tokens, const GridExtents& grid) const;
};

}  // namespace attnscope
