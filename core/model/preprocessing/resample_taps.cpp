#include "core/model/preprocessing/resample_taps.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

namespace {

double triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

double keys_cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

}  // namespace

std::vector<ResampleTaps> antialiased_taps(std::int64_t from, std::int64_t to, bool cubic) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double widening = std::max(scale, 1.0);
  const double support = (cubic ? 2.0 : 1.0) * widening;
  std::vector<ResampleTaps> taps(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    ResampleTaps& own = taps[static_cast<std::size_t>(i)];
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    // NOLINTBEGIN(bugprone-incorrect-roundings): truncates below zero, as Pillow and PyTorch do
    own.first = std::max(static_cast<std::int64_t>(centre - support + 0.5), std::int64_t{0});
    const auto end = std::min(static_cast<std::int64_t>(centre + support + 0.5), from);
    // NOLINTEND(bugprone-incorrect-roundings)
    double sum = 0;
    for (std::int64_t place = own.first; place < end; ++place) {
      const double x = (static_cast<double>(place) - centre + 0.5) / widening;
      own.weights.push_back(cubic ? keys_cubic(x) : triangle(x));
      sum += own.weights.back();
    }
    for (double& weight : own.weights) weight /= sum;
  }
  return taps;
}

}  // namespace attnscope
