#include "core/attention/kernels/window_products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/window_products.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The sums of a tile stay in registers only if the loops over it are unrolled.
#undef ATTNSCOPE_UNROLL
#define ATTNSCOPE_UNROLL _Pragma("GCC unroll 8")

/// Accumulates Tokens × Vectors sums in registers; each tap is loaded once for all tokens.
template <int Tokens, int Vectors, class D>
HWY_INLINE void add_tile(D d, const float* x, const float* taps, std::int64_t count, float* sums) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sum[Tokens][Vectors];
  ATTNSCOPE_UNROLL
  for (int t = 0; t < Tokens; ++t) {
    ATTNSCOPE_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      sum[t][v] = hn::LoadU(d, sums + t * kWindowChannels + v * lanes);
    }
  }
  for (std::int64_t s = 0; s < count; ++s) {
    V tap[Vectors];
    ATTNSCOPE_UNROLL
    for (int v = 0; v < Vectors; ++v) tap[v] = hn::LoadU(d, taps + s * kWindowChannels + v * lanes);
    ATTNSCOPE_UNROLL
    for (int t = 0; t < Tokens; ++t) {
      ATTNSCOPE_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        const float* const from = x + (t + s) * kWindowChannels + v * lanes;
        sum[t][v] = hn::MulAdd(tap[v], hn::LoadU(d, from), sum[t][v]);
      }
    }
  }
  ATTNSCOPE_UNROLL
  for (int t = 0; t < Tokens; ++t) {
    ATTNSCOPE_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      hn::StoreU(sum[t][v], d, sums + t * kWindowChannels + v * lanes);
    }
  }
}

HWY_NOINLINE void add_window_products_for_target(const float* x, std::int64_t tokens,
                                                 const float* taps, std::int64_t count,
                                                 float* sums) {
  // Each step takes two vectors, and as many tokens as leave registers for the taps.
  const hn::CappedTag<float, 16> d;
  const auto step = 2 * static_cast<std::int64_t>(hn::Lanes(d));
#if HWY_TARGET <= HWY_AVX3
  constexpr int kTokens = 8;
#else
  constexpr int kTokens = 4;
#endif
  for (std::int64_t channel = 0; channel < kWindowChannels; channel += step) {
    std::int64_t t = 0;
    const auto at = [channel](auto* rows, std::int64_t row) {
      return rows + row * kWindowChannels + channel;
    };
    for (; t + kTokens <= tokens; t += kTokens) {
      add_tile<kTokens, 2>(d, at(x, t), at(taps, 0), count, at(sums, t));
    }
    for (; t < tokens; ++t) add_tile<1, 2>(d, at(x, t), at(taps, 0), count, at(sums, t));
  }
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(add_window_products_for_target);

void add_window_products(const float* x, std::int64_t tokens, const float* taps, std::int64_t count,
                         float* sums) {
  HWY_DYNAMIC_DISPATCH(add_window_products_for_target)(x, tokens, taps, count, sums);
}

}  // namespace attnscope
#endif
