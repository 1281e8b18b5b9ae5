#include "core/training/kernels/difference_gradients.h"

#include <algorithm>
#include <cassert>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/training/kernels/difference_gradients.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Weights and sums stay in registers only if the loops over them are unrolled.
#undef ATTNSCOPE_UNROLL
#define ATTNSCOPE_UNROLL _Pragma("GCC unroll 8")

/// g · f(x). For sign it flips the sign bit, and returns 0 for x = 0.
template <DifferenceGradient Form, class D, class V>
HWY_INLINE V weighed(D d, V x, V g) {
  if constexpr (Form == DifferenceGradient::sign) {
    const V flipped = hn::Xor(g, hn::And(x, hn::SignBit(d)));
    return hn::IfThenElseZero(hn::Ne(x, hn::Zero(d)), flipped);
  } else if constexpr (Form == DifferenceGradient::hard_tanh) {
    const V one = hn::Set(d, 1.0F);
    return hn::Mul(g, hn::Max(hn::Min(x, one), hn::Neg(one)));
  } else {
    return hn::Mul(g, x);
  }
}

/// A tile: Rows rows of a, and as many rows of b as Vectors vectors have lanes. The gradient of
/// each row of `da` is accumulated in `sums`, one vector per column, until all of b is processed.
struct Tile {
  const float* a;
  std::int64_t a_stride;
  const float* panel;  // at the tile's first row of b
  std::int64_t panel_width;
  float* db;  // at the tile's first row of b, or null
  const float* g;
  std::int64_t g_stride;
  std::int64_t columns;  // number of columns of a and b
  std::int64_t valid;    // remaining rows of b; may be fewer than lanes
  float* sums;           // [columns, Rows, sum_lanes]
  std::int64_t sum_lanes;
};

/// Weights of one row of a; 0 for rows beyond the end of b.
template <class D>
HWY_INLINE hn::Vec<D> weights_at(D d, const float* from, std::int64_t valid) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (valid >= lanes) return hn::LoadU(d, from);
  HWY_ALIGN float padded[hn::MaxLanes(d)] = {};
  if (valid > 0) std::copy_n(from, valid, padded);
  return hn::Load(d, padded);
}

template <DifferenceGradient Form, int Rows, int Vectors, class D>
HWY_INLINE void run_tile(D d, const Tile& tile) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V g[Rows][Vectors];
  ATTNSCOPE_UNROLL
  for (int row = 0; row < Rows; ++row) {
    ATTNSCOPE_UNROLL
    for (int vector = 0; vector < Vectors; ++vector) {
      g[row][vector] =
          weights_at(d, tile.g + row * tile.g_stride + vector * lanes, tile.valid - vector * lanes);
    }
  }
  const float* panel = tile.panel;
  float* db = tile.db;
  float* sums = tile.sums;
  for (std::int64_t column = 0; column < tile.columns; ++column) {
    V keys[Vectors], of_keys[Vectors];
    ATTNSCOPE_UNROLL
    for (int vector = 0; vector < Vectors; ++vector) {
      keys[vector] = hn::LoadU(d, panel + vector * lanes);
      of_keys[vector] = hn::Zero(d);
    }
    ATTNSCOPE_UNROLL
    for (int row = 0; row < Rows; ++row) {
      const V query = hn::Set(d, tile.a[row * tile.a_stride + column]);
      V of_query = hn::LoadU(d, sums);
      ATTNSCOPE_UNROLL
      for (int vector = 0; vector < Vectors; ++vector) {
        const V gradient = weighed<Form>(d, hn::Sub(query, keys[vector]), g[row][vector]);
        of_keys[vector] = hn::Add(of_keys[vector], gradient);
        of_query = hn::Add(of_query, gradient);
      }
      hn::StoreU(of_query, d, sums);
      sums += tile.sum_lanes;
    }
    if (db != nullptr) {
      ATTNSCOPE_UNROLL
      for (int vector = 0; vector < Vectors; ++vector) {
        float* const to = db + vector * lanes;
        hn::StoreU(hn::Sub(hn::LoadU(d, to), of_keys[vector]), d, to);
      }
      db += tile.panel_width;
    }
    panel += tile.panel_width;
  }
}

/// Processes Rows rows of a with the first `seen` rows of b.
template <DifferenceGradient Form, int Rows>
HWY_INLINE void run_rows(const float* a, std::int64_t a_stride, const PackedRows& b,
                         std::int64_t seen, const float* g, std::int64_t g_stride, float* da,
                         std::int64_t da_stride, float* db, std::vector<float>& sums) {
  // Panels have a multiple of 8 rows; a remainder below 16 lanes is processed with 8.
  const hn::CappedTag<float, 16> d;
  const hn::CappedTag<float, 8> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d)),
             few = static_cast<std::int64_t>(hn::Lanes(narrow));
  const std::int64_t columns = b.columns();
  std::fill_n(sums.begin(), columns * Rows * lanes, 0.0F);
  for (std::int64_t first = 0; first < seen;) {
    const std::int64_t panel = first / PackedRows::panel_rows * PackedRows::panel_rows;
    const std::int64_t at = panel * columns + (first - panel), width = b.panel_width(panel);
    const Tile tile{a,         a_stride, b.panel(0) + at, width,        db ? db + at : nullptr,
                    g + first, g_stride, columns,         seen - first, sums.data(),
                    lanes};
    const std::int64_t left = width - (first - panel);
    if (left >= 2 * lanes) {
      run_tile<Form, Rows, 2>(d, tile);
      first += 2 * lanes;
    } else if (left >= lanes) {
      run_tile<Form, Rows, 1>(d, tile);
      first += lanes;
    } else {
      run_tile<Form, Rows, 1>(narrow, tile);
      first += few;
    }
  }
  const float* sum = sums.data();
  for (std::int64_t column = 0; column < columns; ++column) {
    for (int row = 0; row < Rows; ++row, sum += lanes) {
      da[row * da_stride + column] += hn::GetLane(hn::SumOfLanes(d, hn::LoadU(d, sum)));
    }
  }
}

template <DifferenceGradient Form>
void run_form(const ConstStridedMatrixMap& a, const PackedRows& b, const ConstStridedMatrixMap& g,
              StridedMatrixMap& da, float* db) {
  constexpr int kRows = 4;
  std::vector<float> sums(static_cast<std::size_t>(b.columns() * kRows * 16));
  const std::int64_t rows = a.rows();
  std::int64_t row = 0;
  const auto run = [&](const auto& work) {
    work(a.data() + row * a.outerStride(), a.outerStride(), b, g.cols(),
         g.data() + row * g.outerStride(), g.outerStride(), da.data() + row * da.outerStride(),
         da.outerStride(), db, sums);
  };
  for (; row + kRows <= rows; row += kRows) {
    run([](auto&&... all) { run_rows<Form, kRows>(all...); });
  }
  for (; row < rows; ++row) run([](auto&&... all) { run_rows<Form, 1>(all...); });
}

HWY_NOINLINE void difference_gradients_for_target(const ConstStridedMatrixMap& a,
                                                  const PackedRows& b,
                                                  const ConstStridedMatrixMap& g,
                                                  DifferenceGradient form, StridedMatrixMap& da,
                                                  float* db) {
  switch (form) {
    case DifferenceGradient::sign:
      return run_form<DifferenceGradient::sign>(a, b, g, da, db);
    case DifferenceGradient::hard_tanh:
      return run_form<DifferenceGradient::hard_tanh>(a, b, g, da, db);
    case DifferenceGradient::full:
      return run_form<DifferenceGradient::full>(a, b, g, da, db);
  }
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(difference_gradients_for_target);

void add_difference_gradients(const ConstStridedMatrixMap& a, const PackedRows& b,
                              const ConstStridedMatrixMap& g, DifferenceGradient form,
                              StridedMatrixMap da, float* db) {
  assert(a.cols() == b.columns() && g.rows() == a.rows() && g.cols() <= b.rows());
  assert(da.rows() == a.rows() && da.cols() == a.cols());
  if (a.size() == 0 || g.cols() == 0) return;
  HWY_DYNAMIC_DISPATCH(difference_gradients_for_target)(a, b, g, form, da, db);
}

std::int64_t packed_size(std::int64_t rows, std::int64_t columns) {
  return (rows + 7) / 8 * 8 * columns;
}

void add_unpacked(const float* packed, StridedMatrixMap out) {
  const std::int64_t rows = out.rows(), columns = out.cols();
  for (std::int64_t first = 0; first < rows; first += PackedRows::panel_rows) {
    const std::int64_t width = std::min(PackedRows::panel_rows, (rows - first + 7) / 8 * 8);
    const std::int64_t valid = std::min(PackedRows::panel_rows, rows - first);
    const float* const panel = packed + first * columns;
    for (std::int64_t row = 0; row < valid; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        out(first + row, column) += panel[column * width + row];
      }
    }
  }
}

}  // namespace attnscope
#endif
