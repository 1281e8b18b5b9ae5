// Resamples position embeddings to a grid of patches other than the trained one.
#pragma once

#include "core/architecture/model_spec.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct PositionGrid {
  std::int64_t rows = 0, columns = 0;

  bool operator==(const PositionGrid&) const = default;
};

/// Resamples positions [from.rows · from.columns, D] to [to.rows · to.columns, D]; unchanged if the
/// grids are equal. Matches torch.nn.functional.interpolate with mode="bicubic" and
/// align_corners=False (a = −0.75, edges clamped, pixel centres at half integers), with
/// antialias=True (a = −0.5), or with scale_factor = (to + 0.1) / from.
[[nodiscard]] Tensor resample_positions(const Tensor& positions, const PositionGrid& from,
                                        const PositionGrid& to, PositionResize resize);

}  // namespace attnscope
