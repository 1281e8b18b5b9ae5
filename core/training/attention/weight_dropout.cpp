#include "core/training/attention/weight_dropout.h"

namespace attnscope {

void drop_weights(const WeightDropout& dropout, std::int64_t head, std::int64_t first,
                  std::int64_t keys, StridedMatrixMap weights) {
  if (!dropout) return;
  const RandomNumbers own = dropout.numbers->of(static_cast<std::uint64_t>(head));
  const auto kept = static_cast<float>(1 / (1 - dropout.share));
  for (Eigen::Index row = 0; row < weights.rows(); ++row) {
    const auto cell = static_cast<std::uint64_t>((first + row) * keys);
    float* const weight = weights.row(row).data();
    for (Eigen::Index key = 0; key < weights.cols(); ++key) {
      const bool drops = own.uniform(cell + static_cast<std::uint64_t>(key)) < dropout.share;
      weight[key] *= drops ? 0.0F : kept;
    }
  }
}

}  // namespace attnscope
