#include "core/tensor/release_pages.h"

#include "core/platform/file_mapping.h"

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

void release_pages(const TensorView& view) {
  release_pages_of_file({view.data, static_cast<std::size_t>(bytes_of(view))});
}

void release_freed_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace attnscope
