#include "core/attention/kernels/gelu.h"

#include <array>
#include <cmath>
#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/gelu.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// After foreach_target.
#include <hwy/highway.h>

#include "core/attention/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// `series`: Chebyshev's, of erf(z) / z in z² / 8 − 1, for |z| ≤ 4. Beyond that erf is ±1 in
/// float32.
HWY_NOINLINE void gelu_for_target(const double* series, std::int64_t terms, float* values,
                                  std::int64_t count) {
  for_lanes<double>(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> floats;
    const auto x = hn::PromoteTo(d, hn::LoadU(floats, values + i));
    const auto z = hn::Mul(x, hn::Set(d, std::numbers::sqrt2 / 2));
    const auto most = hn::Set(d, 4.0);
    const auto inside = hn::Min(hn::Abs(z), most);
    const auto t = hn::MulSub(hn::Mul(inside, inside), hn::Set(d, 0.125), hn::Set(d, 1.0));
    auto next = hn::Zero(d), sum = hn::Zero(d);  // by Clenshaw's recurrence
    for (std::int64_t k = terms - 1; k > 0; --k) {
      const auto before = sum;
      sum = hn::MulAdd(hn::Add(t, t), sum, hn::Sub(hn::Set(d, series[k]), next));
      next = before;
    }
    const auto quotient = hn::MulAdd(t, sum, hn::Sub(hn::Set(d, series[0]), next));
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

constexpr int kTerms = 28;

std::array<double, kTerms> erf_series() {
  std::array<double, kTerms> series{};
  constexpr int kNodes = 64;
  for (int node = 0; node < kNodes; ++node) {
    const double angle = std::numbers::pi * (node + 0.5) / kNodes;
    const double z = std::sqrt(8 * (std::cos(angle) + 1));
    for (int k = 0; k < kTerms; ++k) {
      series[static_cast<std::size_t>(k)] +=
          (k == 0 ? 1.0 : 2.0) / kNodes * std::erf(z) / z * std::cos(k * angle);
    }
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
