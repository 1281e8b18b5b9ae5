#include "core/architecture/naming/stored_tables.h"

namespace attnscope {

bool is_causal_mask(const StoredTensor& mask) {
  const Tensor values = mask.view().to_float();
  const std::int64_t side = mask.shape.empty() ? 0 : mask.shape.back();
  if (side < 2 || values.size() < side * side) return false;
  const float later = values.data()[side - 1], earlier = values.data()[(side - 1) * side];
  return (later == 0) != (earlier == 0);
}

bool holds_sinusoids(const StoredTensor& table) {
  const Tensor values = table.view().to_float();
  const std::int64_t width = table.shape.empty() ? 0 : table.shape.back();
  if (width < 2 || values.size() < width) return false;
  std::int64_t sines = 0, cosines = 0;
  for (std::int64_t i = 0; i < width; ++i) {
    sines += values.data()[i] == 0 ? 1 : 0;
    cosines += values.data()[i] == 1 ? 1 : 0;
  }
  return sines > 0 && cosines > 0 && sines + cosines == width;
}

}  // namespace attnscope
