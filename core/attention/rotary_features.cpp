#include "core/attention/rotary_features.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace attnscope {

namespace {

/// 10000^−(p/steps) for p < count.
std::vector<double> frequencies_of(std::int64_t count, std::int64_t steps) {
  constexpr double kBase = 10000;
  std::vector<double> frequencies;
  for (std::int64_t p = 0; p < count; ++p) {
    frequencies.push_back(std::pow(
        kBase, -static_cast<double>(p) / static_cast<double>(std::max<std::int64_t>(steps, 1))));
  }
  return frequencies;
}

}  // namespace

Eigen::ArrayXd rala_key_weights(const Eigen::Ref<const MatrixD>& queries,
                                const Eigen::Ref<const MatrixD>& keys) {
  const Eigen::VectorXd mean = queries.colwise().mean();
  Eigen::ArrayXd weights = (keys * mean).array() / std::sqrt(static_cast<double>(keys.cols()));
  weights = (weights - weights.maxCoeff()).exp();
  return weights * (static_cast<double>(keys.rows()) / weights.sum());
}

TokenTurns::TokenTurns(const TokenLayout* layout, std::int64_t tokens, std::int64_t groups,
                       std::vector<double> frequencies)
    : columns_(tokens), groups_(groups), frequencies_(std::move(frequencies)) {
  if (layout == nullptr || !layout->is_grid_of(tokens)) return;
  prefix_ = layout->prefix;
  columns_ = layout->columns;
}

void TokenTurns::turn(std::int64_t token, MatrixD& rows, double direction) const {
  if (token < prefix_) return;
  const std::int64_t width = rows.cols() / groups_, half = std::ssize(frequencies_);
  const std::int64_t columns = std::max<std::int64_t>(columns_, 1);
  for (std::int64_t p = 0; p < 2 * half; ++p) {
    const std::int64_t place = p < half ? (token - prefix_) / columns : (token - prefix_) % columns;
    const double angle =
        direction * static_cast<double>(place) * frequencies_[static_cast<std::size_t>(p % half)];
    const double cosine = std::cos(angle), sine = std::sin(angle);
    for (std::int64_t group = 0; group < groups_; ++group) {
      double& x = rows(token, group * width + 2 * p);
      double& y = rows(token, group * width + 2 * p + 1);
      const double turned = x * cosine - y * sine;
      y = y * cosine + x * sine;
      x = turned;
    }
  }
}

TokenTurns rala_turns(const TokenLayout* layout, std::int64_t tokens, std::int64_t heads,
                      std::int64_t d) {
  return {layout, tokens, heads, frequencies_of(d / 4, d / 4 - 1)};
}

TokenTurns mlla_turns(const TokenLayout* layout, std::int64_t tokens, std::int64_t channels) {
  return {layout, tokens, 1, frequencies_of(channels / 4, channels / 4)};
}

}  // namespace attnscope
