// Maps in which no query sees what comes later.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// Whether a map is square and has nothing but zeros above the diagonal; not of a single token.
[[nodiscard]] bool is_causal(const MatrixD& map);

}  // namespace attnscope
