#include "app/session/temper_row.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope {

void temper_row(std::span<float> values, double temperature) {
  Eigen::Map<Eigen::ArrayXf> row(values.data(), static_cast<Eigen::Index>(values.size()));
  double old_sum = 0;
  float peak = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    old_sum += static_cast<double>(std::abs(value));
    peak = std::max(peak, std::abs(value));
  }
  if (peak == 0) return;
  const auto inverse = static_cast<float>(1 / temperature);
  // log of a plain zero is −inf in some vector paths and a large negative number in others: zeros
  // are set apart.
  const Eigen::ArrayXf power =
      ((row.abs().max(std::numeric_limits<float>::min()).log() - std::log(peak)) * inverse).exp();
  double sum = 0;
  for (Eigen::Index i = 0; i < row.size(); ++i) {
    if (std::isfinite(row[i]) && row[i] != 0) sum += static_cast<double>(power[i]);
  }
  const auto factor = static_cast<float>(old_sum / sum);
  for (Eigen::Index i = 0; i < row.size(); ++i) {
    if (std::isfinite(row[i]) && row[i] != 0) row[i] = std::copysign(power[i] * factor, row[i]);
  }
}

}  // namespace attnscope
