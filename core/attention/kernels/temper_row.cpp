#include "core/attention/kernels/temper_row.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/temper_row.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// After foreach_target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "core/attention/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Of the finite values.
struct Magnitudes {
  double sum = 0;
  float peak = 0;
};

HWY_INLINE Magnitudes magnitudes_of(const float* values, std::int64_t count) {
  Magnitudes found;
  for_lanes<float>(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto value = hn::LoadU(d, values + i);
    const auto magnitude = hn::IfThenElseZero(hn::IsFinite(value), hn::Abs(value));
    found.sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, magnitude)));
    found.peak = std::max(found.peak, hn::GetLane(hn::MaxOfLanes(d, magnitude)));
  });
  return found;
}

HWY_NOINLINE void temper_for_target(float* values, std::int64_t count, float inverse) {
  const Magnitudes before = magnitudes_of(values, count);
  if (before.peak == 0) return;
  const float log_peak = std::log(before.peak);
  double sum = 0;
  for_lanes<float>(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto value = hn::LoadU(d, values + i);
    const auto magnitude = hn::Abs(value);
    // The logarithm of 0 is another number on each processor: zeros are set apart.
    const auto logarithm =
        hn::Log(d, hn::Max(magnitude, hn::Set(d, std::numeric_limits<float>::min())));
    const auto exponent = hn::Mul(hn::Sub(logarithm, hn::Set(d, log_peak)), hn::Set(d, inverse));
    const auto takes_part = hn::And(hn::IsFinite(value), hn::Gt(magnitude, hn::Zero(d)));
    const auto power = hn::IfThenElseZero(takes_part, hn::Exp(d, exponent));
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, power)));
    hn::StoreU(hn::IfThenElse(takes_part, hn::CopySign(power, value), value), d, values + i);
  });
  const auto factor = static_cast<float>(before.sum / sum);
  for_lanes<float>(count, [&](auto d, std::int64_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, values + i), hn::Set(d, factor)), d, values + i);
  });
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(temper_for_target);

void temper_row(std::span<float> values, double temperature) {
  HWY_DYNAMIC_DISPATCH(temper_for_target)
  (values.data(), static_cast<std::int64_t>(values.size()), static_cast<float>(1 / temperature));
}

}  // namespace attnscope
#endif
