#include "core/attention/kernels/running_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/running_sums.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/highway.h>

#include "core/attention/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#undef ATTNSCOPE_UNROLL
#define ATTNSCOPE_UNROLL _Pragma("GCC unroll 4")

/// Prefetches `count` numbers of the row kTokensAhead tokens after `row`. Rows of one head are too
/// far apart for the hardware prefetcher. Prefetching past the last token has no effect.
HWY_INLINE void expect(const float* row, std::int64_t stride, std::int64_t count) {
  constexpr std::int64_t kTokensAhead = 12, kLine = 64 / sizeof(float);
  for (std::int64_t c = 0; c < count; c += kLine) {
    __builtin_prefetch(row + kTokensAhead * stride + c);
  }
}

HWY_NOINLINE void add_weighted_for_target(double weight, const float* values, std::int64_t count,
                                          double* sums) {
  for_lanes<double>(count, [&](auto d, std::int64_t c) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> floats;
    const auto value = hn::PromoteTo(d, hn::LoadU(floats, values + c));
    hn::StoreU(hn::MulAdd(hn::Set(d, weight), value, hn::LoadU(d, sums + c)), d, sums + c);
  });
}

HWY_NOINLINE void scale_for_target(const double* x, double a, const double* y, double b,
                                   std::int64_t count, float* out) {
  for_lanes<double>(count, [&](auto d, std::int64_t c) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> floats;
    auto sum = hn::Mul(hn::Set(d, a), hn::LoadU(d, x + c));
    if (y != nullptr) sum = hn::MulAdd(hn::Set(d, b), hn::LoadU(d, y + c), sum);
    hn::StoreU(hn::DemoteTo(floats, sum), floats, out + c);
  });
}

/// Projects `Tokens` rows at once, which shares the loads of the direction and keeps the sums
/// independent of each other.
template <int Tokens>
HWY_INLINE void project_tokens(const double* direction, std::int64_t channels, const float* rows,
                               std::int64_t stride, double* out) {
  // Zen 4 converts 4 numbers in less than half the time of 8.
  const hn::CappedTag<double, 4> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const hn::Rebind<float, decltype(d)> floats;
  hn::Vec<decltype(d)> sums[Tokens];
  ATTNSCOPE_UNROLL
  for (int t = 0; t < Tokens; ++t) {
    expect(rows + t * stride, stride, channels);
    sums[t] = hn::Zero(d);
  }
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    const auto along = hn::LoadU(d, direction + c);
    ATTNSCOPE_UNROLL
    for (int t = 0; t < Tokens; ++t) {
      const auto value = hn::PromoteTo(d, hn::LoadU(floats, rows + t * stride + c));
      sums[t] = hn::MulAdd(along, value, sums[t]);
    }
  }
  ATTNSCOPE_UNROLL
  for (int t = 0; t < Tokens; ++t) {
    out[t] = hn::GetLane(hn::SumOfLanes(d, sums[t]));
    for (std::int64_t rest = c; rest < channels; ++rest) {
      out[t] += direction[rest] * static_cast<double>(rows[t * stride + rest]);
    }
  }
}

HWY_NOINLINE void project_for_target(const double* direction, std::int64_t channels,
                                     const float* rows, std::int64_t stride, std::int64_t tokens,
                                     double* out) {
  std::int64_t j = 0;
  for (; j + 4 <= tokens; j += 4) {
    project_tokens<4>(direction, channels, rows + j * stride, stride, out + j);
  }
  for (; j < tokens; ++j) {
    project_tokens<1>(direction, channels, rows + j * stride, stride, out + j);
  }
}

/// Running means of Vectors vectors of channels, whose sums stay in registers.
template <int Vectors, class D>
HWY_INLINE void run_channels(D d, const RunningWeight* weights, std::int64_t tokens,
                             const float* values, std::int64_t stride, float* out,
                             std::int64_t out_stride) {
  const hn::Rebind<float, D> floats;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<D> sums[Vectors];
  ATTNSCOPE_UNROLL
  for (auto& sum : sums) sum = hn::Zero(d);
  double total = 0;
  for (std::int64_t j = 0; j < tokens; ++j, values += stride, out += out_stride) {
    if (weights[j].keep != 1) {  // rare, so the product is skipped otherwise
      total *= weights[j].keep;
      ATTNSCOPE_UNROLL
      for (auto& sum : sums) sum = hn::Mul(hn::Set(d, weights[j].keep), sum);
    }
    total += weights[j].weight;
    const auto weight = hn::Set(d, weights[j].weight), share = hn::Set(d, 1 / total);
    expect(values, stride, Vectors * lanes);
    expect(out, out_stride, Vectors * lanes);
    ATTNSCOPE_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      const auto value = hn::PromoteTo(d, hn::LoadU(floats, values + v * lanes));
      sums[v] = hn::MulAdd(weight, value, sums[v]);
      hn::StoreU(hn::DemoteTo(floats, hn::Mul(share, sums[v])), floats, out + v * lanes);
    }
  }
}

HWY_NOINLINE void running_means_for_target(const RunningWeight* weights, std::int64_t tokens,
                                           const float* values, std::int64_t stride,
                                           std::int64_t channels, float* out,
                                           std::int64_t out_stride) {
  const hn::CappedTag<double, 8> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t c = 0;
  for (; c + 4 * lanes <= channels; c += 4 * lanes) {
    run_channels<4>(d, weights, tokens, values + c, stride, out + c, out_stride);
  }
  for (; c + lanes <= channels; c += lanes) {
    run_channels<1>(d, weights, tokens, values + c, stride, out + c, out_stride);
  }
  const hn::CappedTag<double, 1> one;
  for (; c < channels; ++c) {
    run_channels<1>(one, weights, tokens, values + c, stride, out + c, out_stride);
  }
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(add_weighted_for_target);
HWY_EXPORT(scale_for_target);
HWY_EXPORT(running_means_for_target);
HWY_EXPORT(project_for_target);

void project(const double* direction, std::int64_t channels, const float* rows, std::int64_t stride,
             std::int64_t tokens, double* out) {
  HWY_DYNAMIC_DISPATCH(project_for_target)(direction, channels, rows, stride, tokens, out);
}

void running_means(const RunningWeight* weights, std::int64_t tokens, const float* values,
                   std::int64_t stride, std::int64_t channels, float* out,
                   std::int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(running_means_for_target)
  (weights, tokens, values, stride, channels, out, out_stride);
}

void add_weighted(double weight, const float* values, std::int64_t count, double* sums) {
  HWY_DYNAMIC_DISPATCH(add_weighted_for_target)(weight, values, count, sums);
}

void scale(const double* x, double a, const double* y, double b, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(scale_for_target)(x, a, y, b, count, out);
}

}  // namespace attnscope
#endif
