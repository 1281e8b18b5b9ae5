// Recognises tables that a model stores with its weights, by their values.
#pragma once

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// True if each row of a mask [.., T, T] has one value for its token and those before it, and
/// another value for all tokens after it. Of more than 512 rows only some are read.
[[nodiscard]] bool is_causal_mask(const StoredTensor& mask);

/// True if a table [.., T, D] begins with sines and cosines of 0, in any order.
[[nodiscard]] bool holds_sinusoids(const StoredTensor& table);

}  // namespace attnscope
