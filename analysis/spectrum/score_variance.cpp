#include "analysis/spectrum/score_variance.h"

#include <cmath>
#include <numbers>
#include <random>

#include "core/error.h"

namespace attnscope {

namespace {

/// Running variance (Welford), which is accurate for large means.
class RunningVariance {
 public:
  void add(double value) {
    ++count_;
    const double before = value - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (value - mean_);
  }
  [[nodiscard]] double variance() const { return squares_ / static_cast<double>(count_ - 1); }

 private:
  std::int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

}  // namespace

ScoreVariance score_variance(std::int64_t width, std::int64_t pairs, unsigned seed) {
  if (width < 1 || pairs < 2) {
    throw Error(ErrorKind::usage, "the width or the number of pairs is too small")
        .expected("width of at least 1, pairs of at least 2")
        .found("width " + std::to_string(width) + ", pairs " + std::to_string(pairs));
  }
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  RunningVariance products, distances;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    double product = 0, distance = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      const double query = normal(random), key = normal(random);
      product += query * key;
      distance += std::abs(query - key);
    }
    products.add(product);
    distances.add(-distance);
  }
  const auto d = static_cast<double>(width);
  return {.dot_product = products.variance(),
          .dot_product_predicted = d,
          .distance = distances.variance(),
          .distance_predicted = 2 * d * (1 - 2 / std::numbers::pi)};
}

}  // namespace attnscope
