#include "core/model/parts/position_grid.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/model/preprocessing/resample_taps.h"

namespace attnscope {

namespace {

/// Keys' cubic convolution kernel with a = −0.75.
double cubic(double distance) {
  constexpr double a = -0.75;
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/// An input position along one axis and its weight.
struct Tap {
  std::int64_t place;
  float weight;
};

std::vector<std::vector<Tap>> taps_of(std::int64_t from, std::int64_t to, PositionResize resize) {
  std::vector<std::vector<Tap>> taps(static_cast<std::size_t>(to));
  if (resize == PositionResize::bicubic_antialiased) {
    const std::vector<ResampleTaps> exact = antialiased_taps(from, to, true);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      std::int64_t place = exact[i].first;
      for (const double weight : exact[i].weights) {
        taps[i].push_back({place++, static_cast<float>(weight)});
      }
    }
    return taps;
  }
  const double offset = resize == PositionResize::bicubic_offset ? 0.1 : 0;
  const double scale = static_cast<double>(from) / (static_cast<double>(to) + offset);
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale - 0.5;
    const auto floor = static_cast<std::int64_t>(std::floor(centre));
    for (std::int64_t place = floor - 1; place < floor + 3; ++place) {
      taps[static_cast<std::size_t>(i)].push_back(
          {std::clamp<std::int64_t>(place, 0, from - 1),
           static_cast<float>(cubic(centre - static_cast<double>(place)))});
    }
  }
  return taps;
}

}  // namespace

Tensor resample_positions(const Tensor& positions, const PositionGrid& from, const PositionGrid& to,
                          PositionResize resize) {
  if (from == to) return positions;
  const ConstMatrixMap stored = positions.matrix();
  Tensor result({to.rows * to.columns, stored.cols()});
  MatrixMap asked = result.matrix();
  const auto vertical = taps_of(from.rows, to.rows, resize);
  const auto horizontal = taps_of(from.columns, to.columns, resize);
  for (std::int64_t row = 0; row < to.rows; ++row) {
    for (std::int64_t column = 0; column < to.columns; ++column) {
      for (const Tap& down : vertical[static_cast<std::size_t>(row)]) {
        for (const Tap& across : horizontal[static_cast<std::size_t>(column)]) {
          asked.row(row * to.columns + column) +=
              (down.weight * across.weight) * stored.row(down.place * from.columns + across.place);
        }
      }
    }
  }
  return result;
}

}  // namespace attnscope
