#include "core/attention/kernels/l1_distance.h"

#include <algorithm>
#include <cassert>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/l1_distance.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The sums of a tile stay in registers only if the loops over it are unrolled: rolled loops keep
// them in memory and run at two thirds of the speed.
#undef ATTNSCOPE_UNROLL
#define ATTNSCOPE_UNROLL _Pragma("GCC unroll 8")

// Columns per block: 256 × 32 floats of a panel stay in the L1 and L2 caches while all queries pass
// over them.
constexpr std::int64_t kColumnBlock = 256;

struct Strip {
  const float* a;  // first of Rows rows, at the first column of the block
  std::int64_t a_stride;
  const float* panel;  // at the block's first column and the strip's first row
  std::int64_t panel_width;
  std::int64_t columns;  // columns of this block
  float* out;
  std::int64_t out_stride;
  std::int64_t out_columns;  // valid columns, at most the width of the strip
  bool first, last;          // position among the blocks of columns
  float scale;
};

/// |a − b|. On CPUs with FMA the difference runs on the multiplication ports and the sum on the
/// addition ports, which doubles the throughput if these differ. 1·a − b is rounded once, so the
/// result is the same.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V absolute_difference(D d, V a, V b) {
#if defined(HWY_NATIVE_FMA) && HWY_NATIVE_FMA
  return hn::Abs(hn::MulSub(a, hn::Set(d, 1.0F), b));
#else
  (void)d;
  return hn::Abs(hn::Sub(a, b));
#endif
}

/// Accumulates Rows × (Vectors · lanes) sums in registers.
template <int Rows, int Vectors, class D>
HWY_INLINE void accumulate(D d, const Strip& strip) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sums[Rows][Vectors];
  ATTNSCOPE_UNROLL
  for (int row = 0; row < Rows; ++row) {
    ATTNSCOPE_UNROLL
    for (int vector = 0; vector < Vectors; ++vector) {
      const std::int64_t column = vector * lanes;
      const float* from = strip.out + row * strip.out_stride + column;
      const std::int64_t valid = strip.out_columns - column;
      if (strip.first || valid <= 0) {
        sums[row][vector] = hn::Zero(d);
      } else if (valid >= lanes) {
        sums[row][vector] = hn::LoadU(d, from);
      } else {
        HWY_ALIGN float padded[hn::MaxLanes(d)] = {};
        std::copy_n(from, valid, padded);
        sums[row][vector] = hn::Load(d, padded);
      }
    }
  }
  const float* panel = strip.panel;
  for (std::int64_t column = 0; column < strip.columns; ++column) {
    V keys[Vectors];
    ATTNSCOPE_UNROLL
    for (int vector = 0; vector < Vectors; ++vector) {
      keys[vector] = hn::LoadU(d, panel + vector * lanes);
    }
    ATTNSCOPE_UNROLL
    for (int row = 0; row < Rows; ++row) {
      const V query = hn::Set(d, strip.a[row * strip.a_stride + column]);
      ATTNSCOPE_UNROLL
      for (int vector = 0; vector < Vectors; ++vector) {
        sums[row][vector] = hn::Add(sums[row][vector], absolute_difference(d, query, keys[vector]));
      }
    }
    panel += strip.panel_width;
  }
  const V scale = hn::Set(d, strip.last ? strip.scale : 1.0F);
  ATTNSCOPE_UNROLL
  for (int row = 0; row < Rows; ++row) {
    ATTNSCOPE_UNROLL
    for (int vector = 0; vector < Vectors; ++vector) {
      const std::int64_t column = vector * lanes;
      const std::int64_t valid = strip.out_columns - column;
      if (valid <= 0) break;
      float* to = strip.out + row * strip.out_stride + column;
      const V value = hn::Mul(sums[row][vector], scale);
      if (valid >= lanes) {
        hn::StoreU(value, d, to);
      } else {
        HWY_ALIGN float padded[hn::MaxLanes(d)];
        hn::Store(value, d, padded);
        std::copy_n(padded, valid, to);
      }
    }
  }
}

/// One strip of packed rows (Vectors · lanes wide) against all rows of a.
template <int Vectors, class D>
HWY_INLINE void run_strip(D d, Strip strip, std::int64_t rows) {
  // 32 vector registers hold 8 × 2 sums as well as the keys and a query; 16 registers hold 4 × 2.
#if HWY_TARGET <= HWY_AVX3
  constexpr int kRows = 8;
#else
  constexpr int kRows = 4;
#endif
  const auto advance = [&strip](std::int64_t by) {
    strip.a += by * strip.a_stride;
    strip.out += by * strip.out_stride;
  };
  std::int64_t row = 0;
  for (; row + kRows <= rows; row += kRows, advance(kRows)) accumulate<kRows, Vectors>(d, strip);
  if (kRows > 4 && row + 4 <= rows) {
    accumulate<4, Vectors>(d, strip);
    row += 4;
    advance(4);
  }
  for (; row < rows; ++row, advance(1)) accumulate<1, Vectors>(d, strip);
}

HWY_NOINLINE void l1_distances_for_target(const ConstStridedMatrixMap& a, const PackedRows& b,
                                          float scale, StridedMatrixMap& out) {
  const hn::CappedTag<float, 16> wide;
  const hn::CappedTag<float, 8> narrow;
  const auto wide_lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  const auto narrow_lanes = static_cast<std::int64_t>(hn::Lanes(narrow));
  for (std::int64_t first_row = 0; first_row < b.rows(); first_row += PackedRows::panel_rows) {
    const std::int64_t width = b.panel_width(first_row);
    for (std::int64_t column = 0; column < b.columns(); column += kColumnBlock) {
      const std::int64_t columns = std::min(kColumnBlock, b.columns() - column);
      Strip strip{a.data() + column,
                  a.outerStride(),
                  b.panel(first_row) + column * width,
                  width,
                  columns,
                  out.data() + first_row,
                  out.outerStride(),
                  b.rows() - first_row,
                  column == 0,
                  column + columns == b.columns(),
                  scale};
      std::int64_t left = width;
      const auto next = [&strip](std::int64_t by) {
        strip.panel += by;
        strip.out += by;
        strip.out_columns -= by;
        return by;
      };
      for (; left >= 2 * wide_lanes; left -= next(2 * wide_lanes)) {
        run_strip<2>(wide, strip, a.rows());
      }
      for (; left >= wide_lanes; left -= next(wide_lanes)) run_strip<1>(wide, strip, a.rows());
      for (; left >= narrow_lanes; left -= next(narrow_lanes)) {
        run_strip<1>(narrow, strip, a.rows());
      }
    }
  }
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(l1_distances_for_target);

PackedRows::PackedRows(const ConstStridedMatrixMap& rows)
    : rows_(rows.rows()), columns_(rows.cols()) {
  const std::int64_t padded = (rows_ + 7) / 8 * 8;
  values_.resize(static_cast<std::size_t>(padded * columns_));
  for (std::int64_t first = 0; first < rows_; first += panel_rows) {
    const std::int64_t width = panel_width(first);
    const std::int64_t valid = std::min(panel_rows, rows_ - first);
    float* to = values_.data() + first * columns_;
    for (std::int64_t column = 0; column < columns_; ++column) {
      for (std::int64_t row = 0; row < valid; ++row) {
        to[column * width + row] = rows.data()[(first + row) * rows.outerStride() + column];
      }
    }
  }
}

std::int64_t PackedRows::panel_width(std::int64_t first_row) const {
  return std::min(panel_rows, (rows_ - first_row + 7) / 8 * 8);
}

void l1_distances(const ConstStridedMatrixMap& a, const PackedRows& b, float scale,
                  StridedMatrixMap out) {
  assert(a.cols() == b.columns() && out.rows() == a.rows() && out.cols() == b.rows());
  if (out.size() == 0) return;
  if (a.cols() == 0) {
    out.setZero();
    return;
  }
  HWY_DYNAMIC_DISPATCH(l1_distances_for_target)(a, b, scale, out);
}

}  // namespace attnscope
#endif
