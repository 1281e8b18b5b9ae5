// What tables that a model keeps beside its weights say by their numbers.
#pragma once

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Whether a mask [.., T, T] lets each token see those before it alone, or hides those after it.
[[nodiscard]] bool is_causal_mask(const StoredTensor& mask);

/// Whether a table [.., T, D] begins with sines and cosines of 0, in whatever order.
[[nodiscard]] bool holds_sinusoids(const StoredTensor& table);

}  // namespace attnscope
