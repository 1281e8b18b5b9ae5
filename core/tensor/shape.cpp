#include "core/tensor/shape.h"

#include <algorithm>

#include "core/error.h"

namespace attnscope {

std::int64_t element_count(const Shape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (std::any_of(shape.begin(), shape.end(), [](auto extent) { return extent < 0; })) {
    throw Error(ErrorKind::damaged, "a tensor's dimension is negative").found(to_string(shape));
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (count > most / extent) {
      throw Error(ErrorKind::damaged, "a tensor is too large to exist").found(to_string(shape));
    }
    count *= extent;
  }
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + "]";
}

}  // namespace attnscope
