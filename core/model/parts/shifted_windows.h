// Windows of a grid of patches as terms of the scores, those of every other layer shifted by half
// (Liu et al. 2021, section 3.2).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/attention/token_layout.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Adds what `table` [(2·window − 1)², H] has for the offset of query and key in their window of
/// `window` × `window` cells, and −∞ where they are not in one. Shifted, windows begin window / 2
/// cells later, and what they lose at the first edges is a window of its own at the last. Throws
/// Error(damaged) for a table or a grid that does not fit the windows, or prefix tokens.
[[nodiscard]] std::function<void(std::int64_t head, std::int64_t query, std::span<float> scores)>
window_bias(const Tensor& table, const TokenLayout& layout, std::int64_t window, bool shifted);

}  // namespace attnscope
