// Matrix products whose right operand is stored in panels of columns. The caller arranges it once
// for all rows.
#pragma once

#include <cstdint>

namespace attnscope {

/// Number of columns of a panel.
inline constexpr std::int64_t kPanelColumns = 32;

/// out[i, c] = Σ_k a[i, k] · panel[k, c] for `rows` rows, k from 0 to `count` − 1, and the
/// kPanelColumns columns of a contiguous panel. Rows of a are `stride` apart, rows of out
/// `out_stride`. The result of a row is bitwise independent of the other rows.
///
/// Rows of a that are a multiple of 512 bytes apart are slower, because they compete for the same
/// cache sets.
void multiply_panel(const float* a, std::int64_t rows, std::int64_t stride, const float* panel,
                    std::int64_t count, float* out, std::int64_t out_stride);

}  // namespace attnscope
