// Position embeddings for another grid of patches than they were trained on.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// positions [rows · columns, D] resampled bicubically (a = −0.75, edges held, pixel centres at
/// half integers: as torch.nn.functional.interpolate with align_corners=False) to
/// [to_rows · to_columns, D].
[[nodiscard]] Tensor resample_positions(const Tensor& positions, std::int64_t rows,
                                        std::int64_t columns, std::int64_t to_rows,
                                        std::int64_t to_columns);

}  // namespace attnscope
