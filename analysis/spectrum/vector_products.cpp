#include "analysis/spectrum/vector_products.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "analysis/spectrum/vector_products.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// highway.h must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Number of columns whose vectors stay in the L1 cache, and number of rows that share them.
constexpr std::int64_t kColumnsAtOnce = 256, kRowsAtOnce = 8;

// Values per row stay in registers only if loops over the rows are unrolled.
#undef ATTNSCOPE_UNROLL
#define ATTNSCOPE_UNROLL _Pragma("GCC unroll 8")

/// y += a x for kRows rows and one SIMD vector of the sixteen columns of x.
template <std::int64_t kRows, class D>
HWY_INLINE void add_rows(D d, const float* HWY_RESTRICT a, std::int64_t stride,
                         std::int64_t columns, const float* HWY_RESTRICT x, float* HWY_RESTRICT y) {
  hn::Vec<D> sums[kRows];
  ATTNSCOPE_UNROLL
  for (std::int64_t r = 0; r < kRows; ++r) sums[r] = hn::LoadU(d, y + r * kVectors);
  for (std::int64_t j = 0; j < columns; ++j) {
    const auto own = hn::LoadU(d, x + j * kVectors);
    ATTNSCOPE_UNROLL
    for (std::int64_t r = 0; r < kRows; ++r) {
      sums[r] = hn::MulAdd(hn::Set(d, a[r * stride + j]), own, sums[r]);
    }
  }
  ATTNSCOPE_UNROLL
  for (std::int64_t r = 0; r < kRows; ++r) hn::StoreU(sums[r], d, y + r * kVectors);
}

/// sum += aᵀ y for kRows rows and one SIMD vector of the sixteen columns of y.
template <std::int64_t kRows, class D>
HWY_INLINE void add_columns(D d, const float* HWY_RESTRICT a, std::int64_t stride,
                            std::int64_t columns, const float* HWY_RESTRICT y,
                            float* HWY_RESTRICT sum) {
  hn::Vec<D> own[kRows];
  ATTNSCOPE_UNROLL
  for (std::int64_t r = 0; r < kRows; ++r) own[r] = hn::LoadU(d, y + r * kVectors);
  for (std::int64_t j = 0; j < columns; ++j) {
    // Two independent sums shorten the chain of dependent additions.
    hn::Vec<D> sums[2] = {hn::LoadU(d, sum + j * kVectors), hn::Zero(d)};
    ATTNSCOPE_UNROLL
    for (std::int64_t r = 0; r < kRows; ++r) {
      sums[r % 2] = hn::MulAdd(hn::Set(d, a[r * stride + j]), own[r], sums[r % 2]);
    }
    hn::StoreU(hn::Add(sums[0], sums[1]), d, sum + j * kVectors);
  }
}

/// Calls add(rows, tag, entries, columns, row offset, column offset) for blocks that cover `a`, for
/// each SIMD vector of the sixteen columns; all rows of some columns come before the next columns.
/// The offsets are into arrays with sixteen numbers per row, or per column.
template <class Add>
HWY_INLINE void for_blocks(const FloatRows& a, const Add& add) {
  const hn::CappedTag<float, kVectors> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t part = 0; part < kVectors; part += lanes) {
    for (std::int64_t first = 0; first < a.columns; first += kColumnsAtOnce) {
      const std::int64_t columns = std::min(kColumnsAtOnce, a.columns - first);
      const auto add_at = [&](auto rows_at_once, std::int64_t row) HWY_ATTR {
        add(rows_at_once, d, a.entries + row * a.stride + first, columns, row * kVectors + part,
            first * kVectors + part);
      };
      std::int64_t row = 0;
      for (; row + kRowsAtOnce <= a.rows; row += kRowsAtOnce) {
        add_at(std::integral_constant<std::int64_t, kRowsAtOnce>(), row);
      }
      for (; row < a.rows; ++row) add_at(std::integral_constant<std::int64_t, 1>(), row);
    }
  }
}

HWY_NOINLINE void times_vectors_for_target(const FloatRows& a, const float* x, float* y) {
  std::fill_n(y, a.rows * kVectors, 0.0F);
  for_blocks(a, [&](auto rows, auto d, const float* entries, std::int64_t columns,
                    std::int64_t of_rows, std::int64_t of_columns) HWY_ATTR {
    add_rows<rows()>(d, entries, a.stride, columns, x + of_columns, y + of_rows);
  });
}

HWY_NOINLINE void add_transposed_for_target(const FloatRows& a, const float* y, float* sum) {
  for_blocks(a, [&](auto rows, auto d, const float* entries, std::int64_t columns,
                    std::int64_t of_rows, std::int64_t of_columns) HWY_ATTR {
    add_columns<rows()>(d, entries, a.stride, columns, y + of_rows, sum + of_columns);
  });
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(times_vectors_for_target);
HWY_EXPORT(add_transposed_for_target);

void times_vectors(const FloatRows& a, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(times_vectors_for_target)(a, x, y);
}

void add_transposed_times_vectors(const FloatRows& a, const float* y, float* sum) {
  HWY_DYNAMIC_DISPATCH(add_transposed_for_target)(a, y, sum);
}

}  // namespace attnscope
#endif
