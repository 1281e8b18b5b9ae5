#include "analysis/weights/power_law_tail.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

PowerLawTail power_law_tail(std::vector<double> eigenvalues) {
  PowerLawTail best;
  if (!std::ranges::all_of(eigenvalues, [](double value) { return std::isfinite(value); })) {
    return best;
  }
  std::erase_if(eigenvalues, [](double value) { return value <= 0; });
  if (eigenvalues.size() < least_tail_values) return best;
  std::ranges::sort(eigenvalues);
  std::vector<double> logarithms;
  for (const double value : eigenvalues) logarithms.push_back(std::log(value));

  const std::size_t count = eigenvalues.size();
  double sum = logarithms.back();  // sum of the logarithms from `first` on
  for (std::size_t first = count - 1; first-- > 0;) {
    sum += logarithms[first];
    const auto n = static_cast<double>(count - first);
    if (eigenvalues[first] == eigenvalues.back()) continue;  // equal values have no exponent
    const double exponent = 1 + n / (sum - n * logarithms[first]);
    double distance = 0;
    for (std::size_t i = first; i < count; ++i) {
      // 1 − (λ / x_min)^(1 − α) against the share of smaller values.
      const double law = -std::expm1((1 - exponent) * (logarithms[i] - logarithms[first]));
      distance = std::max(distance, std::abs(law - static_cast<double>(i - first) / n));
    }
    if (!(distance > best.distance)) {
      best = {exponent, (exponent - 1) / std::sqrt(n), distance, eigenvalues[first],
              static_cast<std::int64_t>(count - first)};
    }
  }
  return best;
}

}  // namespace attnscope
