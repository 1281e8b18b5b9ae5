#include "core/model/parts/layer_norm.h"

#include <cmath>
#include <utility>

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

LayerNorm layer_norm(Norm kind, std::vector<float> weight, std::vector<float> bias, double eps) {
  if (kind == Norm::rms_plus_one) {
    for (float& value : weight) value += 1.0F;
  }
  if (bias.empty()) bias.assign(weight.size(), 0.0F);
  return {std::move(weight), std::move(bias), eps, kind != Norm::layer};
}

void normalise_groups(const LayerNorm& norm, Tensor& rows) {
  const auto width = static_cast<std::int64_t>(norm.weight.size());
  norm.apply({rows.data(), rows.size() / width, width});
}

}  // namespace attnscope
