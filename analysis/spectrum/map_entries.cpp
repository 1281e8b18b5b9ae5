#include "analysis/spectrum/map_entries.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "analysis/spectrum/map_entries.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// After foreach_target.
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
    auto sizes = zero, squares = zero, wrong = zero;  // NaN · 0 and ∞ · 0 are NaN
    const auto look = [&](auto value) HWY_ATTR {
      sizes = hn::Max(sizes, hn::Abs(value));
      squares = hn::MulAdd(value, value, squares);
      wrong = hn::MulAdd(value, zero, wrong);
    };
    std::int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) look(hn::LoadU(d, row + j));
    if (j < columns)
      look(hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(columns - j)), d, row + j));
    found.squares += hn::GetLane(hn::SumOfLanes(d, squares));
    if (!(hn::GetLane(hn::SumOfLanes(d, wrong)) == 0)) {
      found.not_finite +=
          std::count_if(row, row + columns, [](double value) { return !std::isfinite(value); });
    } else {
      const double largest = hn::GetLane(hn::MaxOfLanes(d, sizes));
      if (largest == 0) ++found.zero_rows;
      found.largest = std::max(found.largest, largest);
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
  // By tiles, whose columns stay in the cache.
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
