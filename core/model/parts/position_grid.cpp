#include "core/model/parts/position_grid.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/model/preprocessing/image_resize.h"

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
    const std::vector<ResampleTaps> exact = antialiased_taps(from, to, ResizeFilter::bicubic);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      std::int64_t place = exact[i].first;
      for (const double weight : exact[i].weights) {
        taps[i].push_back({place++, static_cast<float>(weight)});
      }
    }
    return taps;
  }
  if (resize == PositionResize::bilinear_corners) {
    const double step = to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0.0;
    for (std::int64_t i = 0; i < to; ++i) {
      const double place = static_cast<double>(i) * step;
      const auto before = std::min(static_cast<std::int64_t>(place), from - 1);
      const auto share = static_cast<float>(place - static_cast<double>(before));
      taps[static_cast<std::size_t>(i)] = {{before, 1 - share},
                                           {std::min(before + 1, from - 1), share}};
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

/// Interpolation between neighbours along an axis: weight 1 − share for `first`, share for the
/// next.
struct Between {
  std::int64_t first;
  double share;
};

/// 1 + q + q² + …, `count` terms.
double geometric_sum(double q, std::int64_t count) {
  return (1.0 - std::pow(q, static_cast<double>(count))) / (1.0 - q);
}

/// Positions of the old grid's offsets −from to from among the new grid's −to to `to`.
std::vector<double> geometric_places(std::int64_t from, std::int64_t to) {
  double left = 1.01, right = 1.5, q = left;
  while (right - left > 1e-6) {
    q = (left + right) / 2;
    (geometric_sum(q, from) > static_cast<double>(to) ? right : left) = q;
  }
  std::vector<double> places(static_cast<std::size_t>(2 * from + 1), 0.0);
  double place = 1, step = 1;
  for (std::int64_t i = 1; i <= from; ++i) {
    places[static_cast<std::size_t>(from + i)] = place;
    places[static_cast<std::size_t>(from - i)] = -place;
    step *= q;
    place += step;
  }
  return places;
}

std::vector<Between> geometric_taps(std::int64_t from, std::int64_t to) {
  const std::vector<double> places = geometric_places(from / 2, to / 2);
  std::vector<Between> taps;
  for (std::int64_t i = 0; i < to; ++i) {
    const double place = std::clamp(static_cast<double>(i - to / 2), places.front(), places.back());
    const auto after = std::ranges::lower_bound(places, place);
    const std::int64_t next = std::clamp<std::int64_t>(
        after - places.begin(), std::min<std::int64_t>(1, from - 1), from - 1);
    const std::int64_t first = std::max<std::int64_t>(next - 1, 0);
    const double begin = places[static_cast<std::size_t>(first)],
                 end = places[static_cast<std::size_t>(next)];
    taps.push_back({first, end > begin ? (place - begin) / (end - begin) : 0});
  }
  return taps;
}

std::vector<Between> bilinear_taps(std::int64_t from, std::int64_t to) {
  std::vector<Between> taps;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (std::int64_t i = 0; i < to; ++i) {
    const double place = std::max((static_cast<double>(i) + 0.5) * scale - 0.5, 0.0);
    const auto first = std::min(static_cast<std::int64_t>(place), from - 1);
    taps.push_back({first, first + 1 < from ? place - static_cast<double>(first) : 0});
  }
  return taps;
}

/// The rows [vertical · horizontal, C] between those of `stored` [from.rows · from.columns, C].
Tensor rows_between(const Eigen::Ref<const Matrix>& stored, const PositionGrid& from,
                    const std::vector<Between>& vertical, const std::vector<Between>& horizontal) {
  Tensor result({std::ssize(vertical) * std::ssize(horizontal), stored.cols()});
  std::int64_t row = 0;
  for (const Between& y : vertical) {
    for (const Between& x : horizontal) {
      for (const auto& [line, of_line] :
           {std::pair(y.first, 1 - y.share),
            std::pair(std::min(y.first + 1, from.rows - 1), y.share)}) {
        for (const auto& [place, of_place] :
             {std::pair(x.first, 1 - x.share),
              std::pair(std::min(x.first + 1, from.columns - 1), x.share)}) {
          result.matrix().row(row) +=
              static_cast<float>(of_line * of_place) * stored.row(line * from.columns + place);
        }
      }
      ++row;
    }
  }
  return result;
}

/// Side of the square grid of a table with `rows` rows, not counting those of the class token; 0 if
/// there is none.
std::int64_t side_of_table(std::int64_t rows) {
  const auto across = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(rows))));
  return rows > 0 && across * across == rows && across % 2 == 1 ? (across + 1) / 2 : 0;
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

Tensor resample_bilinearly(const Tensor& positions, const PositionGrid& from,
                           const PositionGrid& to) {
  return rows_between(positions.matrix(), from, bilinear_taps(from.rows, to.rows),
                      bilinear_taps(from.columns, to.columns));
}

Tensor table_of_grid(Tensor table, const PositionGrid& grid, std::int64_t classes,
                     TableResize resize) {
  const std::int64_t down = 2 * grid.rows - 1, across = 2 * grid.columns - 1;
  if (table.extent(0) == down * across + classes) return table;
  const std::int64_t side = side_of_table(table.extent(0) - classes), from = 2 * side - 1;
  if (side == 0) {
    throw Error(ErrorKind::damaged,
                "the table of relative positions does not belong to a square grid")
        .expected(std::to_string(down * across + classes) + " rows for " +
                  std::to_string(grid.rows) + " × " + std::to_string(grid.columns) + " patches")
        .found(std::to_string(table.extent(0)));
  }
  const auto taps = resize == TableResize::geometric ? geometric_taps : bilinear_taps;
  const ConstMatrixMap stored = std::as_const(table).matrix();
  const Tensor offsets =
      rows_between(stored.topRows(from * from), {from, from}, taps(from, down), taps(from, across));
  Tensor result({down * across + classes, table.extent(1)});
  result.matrix().topRows(down * across) = offsets.matrix();
  result.matrix().bottomRows(classes) = stored.bottomRows(classes);
  return result;
}

}  // namespace attnscope
