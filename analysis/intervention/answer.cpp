#include "analysis/intervention/answer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace attnscope {

Eigen::ArrayXd log_probabilities(std::span<const float> logits) {
  const Eigen::ArrayXd values =
      Eigen::Map<const Eigen::ArrayXf>(logits.data(), std::ssize(logits)).cast<double>();
  const double greatest = values.maxCoeff();
  return values - greatest - std::log((values - greatest).exp().sum());
}

std::int64_t likeliest(std::span<const float> logits) {
  const bool finite = std::ranges::all_of(logits, [](float value) { return std::isfinite(value); });
  if (logits.empty() || !finite) return -1;
  return std::ranges::max_element(logits) - logits.begin();
}

double divergence_bits(std::span<const float> whole, std::span<const float> changed) {
  if (likeliest(whole) < 0 || likeliest(changed) < 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const Eigen::ArrayXd before = log_probabilities(whole), after = log_probabilities(changed);
  return std::max(0.0, (before.exp() * (before - after)).sum()) / std::numbers::ln2;
}

}  // namespace attnscope
