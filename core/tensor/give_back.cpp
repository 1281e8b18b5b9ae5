#include "core/tensor/give_back.h"

#include "core/memory/watched_memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace attnscope {

namespace {

/// Number of bytes from the first element of the view to the last.
std::int64_t bytes_of(const TensorView& view) {
  const std::int64_t count = element_count(view.shape);
  if (count == 0) return 0;
  if (view.dtype == DType::quantised) return count / view.blocks->elements * view.blocks->bytes;
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    last += (view.shape[axis] - 1) * view.strides[axis];
  }
  return (last + 1) * static_cast<std::int64_t>(size_of(view.dtype));
}

}  // namespace

void give_back(const TensorView& view) {
  give_back_pages({view.data, static_cast<std::size_t>(bytes_of(view))});
}

void give_back_freed() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace attnscope
