#include "core/model/parts/layer_norm.h"

#include <cmath>

#include "core/model/parts/blocks_of_work.h"

namespace attnscope {

void LayerNorm::apply(MatrixMap x) const {
  constexpr std::int64_t block = 64;
  using Row = Eigen::Map<const Eigen::Array<float, 1, Eigen::Dynamic>>;
  const Row weights(weight.data(), x.cols()), biases(bias.data(), x.cols());
  for_blocks(x.rows(), block, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t row = first; row < first + count; ++row) {
      auto values = x.row(row).array();
      const auto exact = values.cast<double>();
      const double mean = rms ? 0 : exact.mean();
      const double scale = 1.0 / std::sqrt((exact - mean).square().mean() + eps);
      values = ((exact - mean) * scale).cast<float>() * weights + biases;
    }
  });
}

void normalise_groups(const LayerNorm& norm, Tensor& rows) {
  const auto width = static_cast<std::int64_t>(norm.weight.size());
  norm.apply({rows.data(), rows.size() / width, width});
}

}  // namespace attnscope
