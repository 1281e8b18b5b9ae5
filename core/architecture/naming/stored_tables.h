// What tables that a model keeps beside its weights say by their numbers.
#pragma once

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Whether a mask [.., T, T] has one number for a token and those before it, and another for all
/// after it. Where there are more than 512 rows, not every one is looked at.
[[nodiscard]] bool is_causal_mask(const StoredTensor& mask);

/// Whether a table [.., T, D] begins with sines and cosines of 0, in whatever order.
[[nodiscard]] bool holds_sinusoids(const StoredTensor& table);

}  // namespace attnscope
