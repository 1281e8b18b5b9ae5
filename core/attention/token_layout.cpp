#include "core/attention/token_layout.h"

namespace attnscope {

std::string TokenLayout::name(std::int64_t index) const {
  if (index < prefix) {
    if (index == 0) return "class";
    if (index == 1) return "distillation";
    return "prefix " + std::to_string(index);
  }
  if (index < std::ssize(texts)) return texts[static_cast<std::size_t>(index)];
  const std::int64_t patch = index - prefix;
  if (!has_grid() || patch >= rows * columns) return std::to_string(index);
  return "(" + std::to_string(patch / columns) + ", " + std::to_string(patch % columns) + ")";
}

}  // namespace attnscope
