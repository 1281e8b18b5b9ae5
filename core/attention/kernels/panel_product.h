// Products with a right side that lies in panels of columns, so that it is arranged once for all
// rows, and by whoever computes it.
#pragma once

#include <cstdint>

namespace attnscope {

/// Columns of a panel.
inline constexpr std::int64_t kPanelColumns = 32;

/// out[i, c] = Σ_k a[i, k] · panel[k, c] for `rows` rows, k from 0 to `count` − 1, and the
/// kPanelColumns columns of a panel, whose rows follow each other. Rows of a are `stride` apart,
/// those of out `out_stride`. A row comes out the same to the bit whatever rows are beside it.
///
/// Fastest where rows of a do not lie a multiple of 512 bytes apart, which would make them compete
/// for the same places in the cache.
void multiply_panel(const float* a, std::int64_t rows, std::int64_t stride, const float* panel,
                    std::int64_t count, float* out, std::int64_t out_stride);

}  // namespace attnscope
