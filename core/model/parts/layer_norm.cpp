#include "core/model/parts/layer_norm.h"

#include <cmath>

#include "core/model/parts/blocks_of_work.h"

namespace attnscope {

void LayerNorm::apply(MatrixMap x) const {
  constexpr std::int64_t block = 64;
  const std::int64_t width = x.cols();
  for_blocks(x.rows(), block, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t row = first; row < first + count; ++row) {
      float* const values = x.data() + row * width;
      double sum = 0;
      for (std::int64_t i = 0; !rms && i < width; ++i) sum += values[i];
      const double mean = sum / static_cast<double>(width);
      double squares = 0;
      for (std::int64_t i = 0; i < width; ++i) squares += (values[i] - mean) * (values[i] - mean);
      const double scale = 1.0 / std::sqrt(squares / static_cast<double>(width) + eps);
      for (std::int64_t i = 0; i < width; ++i) {
        const auto at = static_cast<std::size_t>(i);
        values[i] = static_cast<float>((values[i] - mean) * scale) * weight[at] + bias[at];
      }
    }
  });
}

void normalise_stretches(const LayerNorm& norm, Tensor& rows) {
  const auto width = static_cast<std::int64_t>(norm.weight.size());
  norm.apply({rows.data(), rows.size() / width, width});
}

}  // namespace attnscope
