#include "analysis/spectrum/map_entries.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "analysis/spectrum/map_entries.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// highway.h must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_NOINLINE void entries_for_target(const double* entries, std::int64_t rows, std::int64_t columns,
                                     MapEntries& found) {
  const hn::CappedTag<double, 8> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* const row = entries + i * columns;
    auto squares = zero, wrong = zero;  // NaN · 0 and ∞ · 0 are NaN
    auto least = columns > 0 ? hn::Set(d, row[0]) : zero, greatest = least;
    const auto look = [&](auto value) HWY_ATTR {
      least = hn::Min(least, value);
      greatest = hn::Max(greatest, value);
      squares = hn::MulAdd(value, value, squares);
      wrong = hn::MulAdd(value, zero, wrong);
    };
    std::int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) look(hn::LoadU(d, row + j));
    if (j < columns) {
      // Zeros of the masked load must not count as least or greatest entry.
      const auto inside = hn::FirstN(d, static_cast<std::size_t>(columns - j));
      const auto before_least = least, before_greatest = greatest;
      look(hn::MaskedLoad(inside, d, row + j));
      least = hn::IfThenElse(inside, least, before_least);
      greatest = hn::IfThenElse(inside, greatest, before_greatest);
    }
    found.squares += hn::GetLane(hn::SumOfLanes(d, squares));
    if (!(hn::GetLane(hn::SumOfLanes(d, wrong)) == 0)) {
      found.not_finite +=
          std::count_if(row, row + columns, [](double value) { return !std::isfinite(value); });
    } else {
      const double row_least = hn::GetLane(hn::MinOfLanes(d, least));
      const double row_greatest = hn::GetLane(hn::MaxOfLanes(d, greatest));
      if (row_least == 0 && row_greatest == 0) ++found.zero_rows;
      found.least = i == 0 ? row_least : std::min(found.least, row_least);
      found.greatest = i == 0 ? row_greatest : std::max(found.greatest, row_greatest);
    }
  }
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(entries_for_target);

MapEntries entries_of(const MatrixD& map) {
  MapEntries found;
  HWY_DYNAMIC_DISPATCH(entries_for_target)(map.data(), map.rows(), map.cols(), found);
  return found;
}

double asymmetry_of(const MatrixD& map) {
  if (map.rows() != map.cols()) return std::numeric_limits<double>::quiet_NaN();
  // Tiles keep the columns in the cache.
  constexpr int kTile = 16;
  using Tile = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, kTile, kTile>;
  const Eigen::Index n = map.rows();
  double squares = 0;
  for (Eigen::Index i = 0; i < n; i += kTile) {
    for (Eigen::Index j = 0; j <= i; j += kTile) {
      const Eigen::Index rows = std::min<Eigen::Index>(kTile, n - i);
      const Eigen::Index columns = std::min<Eigen::Index>(kTile, n - j);
      const Tile across = map.block(j, i, columns, rows).transpose();
      const double tile = (map.block(i, j, rows, columns) - across).squaredNorm();
      squares += j < i ? 2 * tile : tile;
    }
  }
  return squares;
}

}  // namespace attnscope
#endif
