// Releases memory of stored tensors between uses.
#pragma once

#include "core/tensor/tensor_view.h"

namespace attnscope {

/// Releases the pages of a mapped file from the first of these elements to the last, until they are
/// read again (release_pages_of_file). Does nothing for elements elsewhere.
void release_pages(const TensorView& view);

/// Returns freed heap memory to the operating system (malloc_trim), for use after work on large
/// tensors. Takes about a millisecond. Does nothing without glibc.
void release_freed_memory();

}  // namespace attnscope
