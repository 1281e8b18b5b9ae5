#include "core/architecture/naming/stored_tables.h"

#include <algorithm>
#include <vector>

namespace attnscope {

bool is_causal_mask(const StoredTensor& mask) {
  const std::int64_t side = mask.shape.empty() ? 0 : mask.shape.back();
  const TensorView view = mask.view();
  if (side < 2 || view.rows() < side) return false;
  // Only some rows of a long mask are compared.
  const std::int64_t step = std::max<std::int64_t>(side / 256, 1);
  std::vector<float> row(static_cast<std::size_t>(side));
  view.rows_to_float(0, 1, row.data());
  const float seen = row[0], hidden = row[1];
  for (std::int64_t i = 0; i < side; i += step) {
    view.rows_to_float(i, i + 1, row.data());
    for (std::int64_t j = 0; j < side; ++j) {
      if (row[static_cast<std::size_t>(j)] != (j <= i ? seen : hidden)) return false;
    }
  }
  return seen != hidden;
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
