// Memory that a stored tensor need not hold between one use and the next.
#pragma once

#include "core/tensor/tensor_view.h"

namespace attnscope {

/// The pages of a mapped file from the first of these elements to the last need no room any more,
/// until they are read again (give_back_pages); nothing happens to elements that lie elsewhere.
void give_back(const TensorView& view);

/// Memory that was freed and is kept for the next who asks need not be kept: for after work on
/// large tensors. Takes about a millisecond; nothing happens where the C library has no such thing.
void give_back_freed();

}  // namespace attnscope
