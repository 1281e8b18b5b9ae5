// Position embeddings for another grid of patches than they were trained on.
#pragma once

#include "core/architecture/model_spec.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct PositionGrid {
  std::int64_t rows = 0, columns = 0;

  bool operator==(const PositionGrid&) const = default;
};

/// positions [from.rows · from.columns, D] brought to [to.rows · to.columns, D], unchanged if the
/// grids are the same. As torch.nn.functional.interpolate with mode="bicubic" and
/// align_corners=False (a = −0.75, edges held, pixel centres at half integers), with its
/// antialias=True (a = −0.5), or with scale_factor = (to + 0.1) / from.
[[nodiscard]] Tensor resample_positions(const Tensor& positions, const PositionGrid& from,
                                        const PositionGrid& to, PositionResize resize);

}  // namespace attnscope
