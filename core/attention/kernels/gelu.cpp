#include "core/attention/kernels/gelu.h"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/gelu.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/highway.h>

#include "core/attention/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// GELU of `count` values. `series` holds the coefficients of erf(z) / z in powers of t = z² / 8 −
/// 1 for |z| ≤ 4; `terms` is even. Beyond that range erf is ±1 in float32.
HWY_NOINLINE void gelu_for_target(const double* series, std::int64_t terms, float* values,
                                  std::int64_t count) {
  for_lanes<double>(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> floats;
    const auto x = hn::PromoteTo(d, hn::LoadU(floats, values + i));
    const auto z = hn::Mul(x, hn::Set(d, std::numbers::sqrt2 / 2));
    const auto most = hn::Set(d, 4.0);
    const auto inside = hn::Min(hn::Abs(z), most);
    const auto t = hn::MulSub(hn::Mul(inside, inside), hn::Set(d, 0.125), hn::Set(d, 1.0));
    const auto square = hn::Mul(t, t);
    auto even = hn::Zero(d), odd = hn::Zero(d);  // independent chains for the pipeline
    for (std::int64_t k = terms - 2; k >= 0; k -= 2) {
      even = hn::MulAdd(even, square, hn::Set(d, series[k]));
      odd = hn::MulAdd(odd, square, hn::Set(d, series[k + 1]));
    }
    const auto quotient = hn::MulAdd(t, odd, even);
    const auto one = hn::Set(d, 1.0);
    const auto size = hn::IfThenElse(hn::Lt(inside, most), hn::Mul(inside, quotient), one);
    const auto erf = hn::CopySignToAbs(size, z);
    const auto out = hn::Mul(hn::Mul(hn::Set(d, 0.5), x), hn::Add(one, erf));
    hn::StoreU(hn::DemoteTo(floats, out), floats, values + i);
  });
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(gelu_for_target);

namespace {

constexpr int kTerms = 24;

/// Power series from the Chebyshev series. Its terms fall so fast that no coefficient exceeds 1, so
/// nothing cancels. The error is below 1e-13.
std::array<double, kTerms> erf_series() {
  std::array<double, kTerms> chebyshev{};
  constexpr int kNodes = 64;
  for (int node = 0; node < kNodes; ++node) {
    const double angle = std::numbers::pi * (node + 0.5) / kNodes;
    const double z = std::sqrt(8 * (std::cos(angle) + 1));
    for (int k = 0; k < kTerms; ++k) {
      chebyshev[static_cast<std::size_t>(k)] +=
          (k == 0 ? 1.0 : 2.0) / kNodes * std::erf(z) / z * std::cos(k * angle);
    }
  }
  std::array<double, kTerms> series{}, before{}, polynomial{1.0};  // T_k−1 and T_k
  for (std::size_t k = 0; k < kTerms; ++k) {
    std::array<double, kTerms> next{};  // T_k+1 = 2 t T_k − T_k−1; T_1 = t
    for (std::size_t power = 0; power < kTerms; ++power) {
      series[power] += chebyshev[k] * polynomial[power];
      next[power] = (power > 0 ? (k == 0 ? 1 : 2) * polynomial[power - 1] : 0) - before[power];
    }
    before = std::exchange(polynomial, next);
  }
  return series;
}

}  // namespace

void gelu(float* x, std::int64_t count) {
  static const std::array<double, kTerms> series = erf_series();
  HWY_DYNAMIC_DISPATCH(gelu_for_target)(series.data(), kTerms, x, count);
}

}  // namespace attnscope
#endif
