// Releases memory of stored tensors between uses.
#pragma once

#include "core/tensor/tensor_view.h"

namespace attnscope {

/// Releases the pages of a mapped file from the first of these elements to the last, until they are
/// read again (give_back_pages). Does nothing for elements elsewhere.
void give_back(const TensorView& view);

/// Returns freed heap memory to the operating system (malloc_trim), for use after work on large
/// tensors. Takes about a millisecond. Does nothing without glibc.
void give_back_freed();

}  // namespace attnscope
