#include "core/model/parts/table_grid.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace attnscope {

namespace {

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

}  // namespace

std::int64_t side_of_table(std::int64_t rows) {
  const auto across = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(rows))));
  return rows > 0 && across * across == rows && across % 2 == 1 ? (across + 1) / 2 : 0;
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
  const std::vector<Between> vertical = taps(from, down), horizontal = taps(from, across);
  const ConstMatrixMap stored = std::as_const(table).matrix();
  Tensor result({down * across + classes, table.extent(1)});
  std::int64_t row = 0;
  for (const Between& y : vertical) {
    for (const Between& x : horizontal) {
      for (const auto& [line, of_line] :
           {std::pair(y.first, 1 - y.share), std::pair(std::min(y.first + 1, from - 1), y.share)}) {
        for (const auto& [place, of_place] :
             {std::pair(x.first, 1 - x.share),
              std::pair(std::min(x.first + 1, from - 1), x.share)}) {
          result.matrix().row(row) +=
              static_cast<float>(of_line * of_place) * stored.row(line * from + place);
        }
      }
      ++row;
    }
  }
  result.matrix().bottomRows(classes) = stored.bottomRows(classes);
  return result;
}

}  // namespace attnscope
