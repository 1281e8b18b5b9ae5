#include "core/model/parts/position_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace attnscope {

namespace {

/// Keys' cubic convolution kernel with a = −0.75.
float cubic(float distance) {
  constexpr float a = -0.75F;
  const float x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/// Which four places along one axis make up a new one, and how much of each.
struct Taps {
  std::array<std::int64_t, 4> place;
  std::array<float, 4> weight;
};

std::vector<Taps> taps_of(std::int64_t from, std::int64_t to) {
  std::vector<Taps> taps(static_cast<std::size_t>(to));
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  for (std::int64_t i = 0; i < to; ++i) {
    const float centre = (static_cast<float>(i) + 0.5F) * scale - 0.5F;
    const auto floor = static_cast<std::int64_t>(std::floor(centre));
    for (std::size_t k = 0; k < 4; ++k) {
      const std::int64_t place = floor - 1 + static_cast<std::int64_t>(k);
      taps[static_cast<std::size_t>(i)].place[k] = std::clamp<std::int64_t>(place, 0, from - 1);
      taps[static_cast<std::size_t>(i)].weight[k] = cubic(centre - static_cast<float>(place));
    }
  }
  return taps;
}

}  // namespace

Tensor resample_positions(const Tensor& positions, std::int64_t rows, std::int64_t columns,
                          std::int64_t to_rows, std::int64_t to_columns) {
  if (rows == to_rows && columns == to_columns) return positions;
  const ConstMatrixMap from = positions.matrix();
  Tensor result({to_rows * to_columns, from.cols()});
  MatrixMap to = result.matrix();
  const std::vector<Taps> vertical = taps_of(rows, to_rows);
  const std::vector<Taps> horizontal = taps_of(columns, to_columns);
  for (std::int64_t row = 0; row < to_rows; ++row) {
    const Taps& down = vertical[static_cast<std::size_t>(row)];
    for (std::int64_t column = 0; column < to_columns; ++column) {
      const Taps& across = horizontal[static_cast<std::size_t>(column)];
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
          to.row(row * to_columns + column) += (down.weight[i] * across.weight[j]) *
                                               from.row(down.place[i] * columns + across.place[j]);
        }
      }
    }
  }
  return result;
}

}  // namespace attnscope
