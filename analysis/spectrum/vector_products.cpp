#include "analysis/spectrum/vector_products.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "analysis/spectrum/vector_products.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// So many columns that what belongs to them stays in the L1 cache; so many rows that share it.
constexpr std::int64_t kColumnsAtOnce = 256, kRowsAtOnce = 8;

// What is held for each row stays in registers only if loops over it are unrolled.
#undef ATTNSCOPE_UNROLL
#define ATTNSCOPE_UNROLL _Pragma("GCC unroll 8")

/// y += a x of kRows rows and one vector's width of the sixteen.
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

/// sum += aᵀ y of the same.
template <std::int64_t kRows, class D>
HWY_INLINE void add_columns(D d, const float* HWY_RESTRICT a, std::int64_t stride,
                            std::int64_t columns, const float* HWY_RESTRICT y,
                            float* HWY_RESTRICT sum) {
  hn::Vec<D> own[kRows];
  ATTNSCOPE_UNROLL
  for (std::int64_t r = 0; r < kRows; ++r) own[r] = hn::LoadU(d, y + r * kVectors);
  for (std::int64_t j = 0; j < columns; ++j) {
    // Two sums, so that they need not wait for each other.
    hn::Vec<D> sums[2] = {hn::LoadU(d, sum + j * kVectors), hn::Zero(d)};
    ATTNSCOPE_UNROLL
    for (std::int64_t r = 0; r < kRows; ++r) {
      sums[r % 2] = hn::MulAdd(hn::Set(d, a[r * stride + j]), own[r], sums[r % 2]);
    }
    hn::StoreU(hn::Add(sums[0], sums[1]), d, sum + j * kVectors);
  }
}

/// Calls add(rows, tag, entries, columns, where their rows begin, where their columns begin) for
/// blocks that cover `a`, all of some columns before the next: of each vector's width of the
/// sixteen. The last two count numbers of what has sixteen for each row, or column.
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
