// Detection of causal maps.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// True for a square map of at least 2 tokens that is 0 above the diagonal.
[[nodiscard]] bool is_causal(const MatrixD& map);

}  // namespace attnscope
