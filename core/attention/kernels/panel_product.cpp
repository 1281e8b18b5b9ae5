#include "core/attention/kernels/panel_product.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/panel_product.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The sums of a tile stay in registers only if the loops over it are unrolled.
#undef ATTNSCOPE_UNROLL
#define ATTNSCOPE_UNROLL _Pragma("GCC unroll 8")

/// Accumulates Rows × 2 vectors of sums in registers: two loads of the panel serve all rows. If
/// `add`, the sums are added to `out`.
template <int Rows, class D>
HWY_INLINE void multiply_tile(D d, const float* a, std::int64_t stride, const float* panel,
                              std::int64_t count, bool add, float* out, std::int64_t out_stride) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sum[Rows][2];
  ATTNSCOPE_UNROLL
  for (int r = 0; r < Rows; ++r) sum[r][0] = sum[r][1] = hn::Zero(d);
  for (std::int64_t k = 0; k < count; ++k) {
    const V left = hn::LoadU(d, panel + k * kPanelColumns);
    const V right = hn::LoadU(d, panel + k * kPanelColumns + lanes);
    ATTNSCOPE_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const V factor = hn::Set(d, a[r * stride + k]);
      sum[r][0] = hn::MulAdd(factor, left, sum[r][0]);
      sum[r][1] = hn::MulAdd(factor, right, sum[r][1]);
    }
  }
  ATTNSCOPE_UNROLL
  for (int r = 0; r < Rows; ++r) {
    ATTNSCOPE_UNROLL
    for (int v = 0; v < 2; ++v) {
      float* const to = out + r * out_stride + v * lanes;
      hn::StoreU(add ? hn::Add(hn::LoadU(d, to), sum[r][v]) : sum[r][v], d, to);
    }
  }
}

HWY_NOINLINE void multiply_panel_for_target(const float* a, std::int64_t rows, std::int64_t stride,
                                            const float* panel, std::int64_t count, float* out,
                                            std::int64_t out_stride) {
  // Panel rows per pass. They stay in or near the L1 cache while all rows pass, and sums of partial
  // sums round less than one long sum.
  constexpr std::int64_t kAtOnce = 256;
  const hn::CappedTag<float, 16> d;
  const auto step = 2 * static_cast<std::int64_t>(hn::Lanes(d));
#if HWY_TARGET <= HWY_AVX3
  constexpr int kRows = 8;
#else
  constexpr int kRows = 6;  // sums take 12 of 16 registers
#endif
  std::int64_t k = 0;
  do {
    const std::int64_t some = std::min(kAtOnce, count - k);
    for (std::int64_t c = 0; c < kPanelColumns; c += step) {
      const float* const from = panel + k * kPanelColumns + c;
      std::int64_t r = 0;
      const auto multiply_rows = [&]<int Rows>() HWY_ATTR {
        for (; r + Rows <= rows; r += Rows) {
          multiply_tile<Rows>(d, a + r * stride + k, stride, from, some, k > 0,
                              out + r * out_stride + c, out_stride);
        }
      };
      multiply_rows.template operator()<kRows>();
      multiply_rows.template operator()<3>();
      multiply_rows.template operator()<1>();
    }
    k += kAtOnce;
  } while (k < count);
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(multiply_panel_for_target);

void multiply_panel(const float* a, std::int64_t rows, std::int64_t stride, const float* panel,
                    std::int64_t count, float* out, std::int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(multiply_panel_for_target)
  (a, rows, stride, panel, count, out, out_stride);
}

}  // namespace attnscope
#endif
