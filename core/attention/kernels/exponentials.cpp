#include "core/attention/kernels/exponentials.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/exponentials.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "core/attention/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// exp for every number. Highway's Exp does not propagate NaN, and its exponent wraps around from
/// 178 on (1420 for doubles); exp is infinite from 89 on (710 for doubles).
template <class D, class V>
HWY_INLINE V exp_of_any(D d, V x) {
  using Number = hn::TFromD<D>;
  const V most = hn::Set(d, static_cast<Number>(sizeof(Number) == 4 ? 100 : 800));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, hn::Min(x, most)));
}

/// σ(x) computed from exp(−|x|), which does not overflow and keeps small σ(x) accurate.
template <class D, class V>
HWY_INLINE V sigmoid_of_any(D d, V x) {
  const V one = hn::Set(d, 1.0F), decay = exp_of_any(d, hn::Neg(hn::Abs(x)));
  const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), decay, one);
  return hn::Div(numerator, hn::Add(one, decay));
}

/// out[i] = exp(values[i] − shift). `shift_at(d, i)` gives the shifts of the lanes from i on.
template <class ShiftAt>
HWY_INLINE void run(const float* values, std::int64_t count, float* out, const ShiftAt& shift_at) {
  for_lanes<float>(count, [&](auto d, std::int64_t i) HWY_ATTR {
    hn::StoreU(exp_of_any(d, hn::Sub(hn::LoadU(d, values + i), shift_at(d, i))), d, out + i);
  });
}

HWY_NOINLINE void one_shift_for_target(float* values, std::int64_t count, float shift) {
  run(values, count, values, [shift](auto d, std::int64_t) { return hn::Set(d, shift); });
}

HWY_NOINLINE void doubles_for_target(double* values, std::int64_t count) {
  for_lanes<double>(count, [values](auto d, std::int64_t i) HWY_ATTR {
    hn::StoreU(exp_of_any(d, hn::LoadU(d, values + i)), d, values + i);
  });
}

HWY_NOINLINE float below_largest_for_target(float* values, std::int64_t count) {
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  auto greatest = hn::Set(d, kLeast);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) greatest = hn::Max(greatest, hn::LoadU(d, values + i));
  float largest = hn::GetLane(hn::MaxOfLanes(d, greatest));
  for (; i < count; ++i) largest = std::max(largest, values[i]);
  one_shift_for_target(values, count, largest);
  return largest;
}

HWY_NOINLINE void own_shifts_for_target(const float* values, const float* shifts,
                                        std::int64_t count, float* out) {
  run(values, count, out, [shifts](auto d, std::int64_t i) { return hn::LoadU(d, shifts + i); });
}

HWY_NOINLINE void sigmoid_for_target(const float* x, std::int64_t count, float* out) {
  for_lanes<float>(count, [x, out](auto d, std::int64_t i) HWY_ATTR {
    hn::StoreU(sigmoid_of_any(d, hn::LoadU(d, x + i)), d, out + i);
  });
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(one_shift_for_target);
HWY_EXPORT(doubles_for_target);
HWY_EXPORT(below_largest_for_target);
HWY_EXPORT(own_shifts_for_target);
HWY_EXPORT(sigmoid_for_target);

void exponentiate(float* values, std::int64_t count, float shift) {
  HWY_DYNAMIC_DISPATCH(one_shift_for_target)(values, count, shift);
}

void exponentiate(double* values, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(doubles_for_target)(values, count);
}

float exponentiate_below_largest(float* values, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(below_largest_for_target)(values, count);
}

void exponentiate(const float* values, const float* shifts, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(own_shifts_for_target)(values, shifts, count, out);
}

void sigmoid(const float* x, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(sigmoid_for_target)(x, count, out);
}

}  // namespace attnscope
#endif
