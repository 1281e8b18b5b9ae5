#include "core/attention/kernels/temper_row.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/temper_row.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "core/attention/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Lane-wise sum or maximum. Reducing the lanes of every vector would cost more than the additions.
class Lanes {
 public:
  template <class D>
  HWY_INLINE void add(D d, hn::Vec<D> values) {
    hn::Store(hn::Add(hn::Load(d, lanes_), values), d, lanes_);
    if (++added_ == kMostInFloat) add_lanes();
  }
  template <class D>
  HWY_INLINE void keep_greatest(D d, hn::Vec<D> values) {
    hn::Store(hn::Max(hn::Load(d, lanes_), values), d, lanes_);
  }
  [[nodiscard]] double sum() {
    add_lanes();
    return sum_;
  }
  [[nodiscard]] float greatest() const { return *std::max_element(lanes_, std::end(lanes_)); }

 private:
  static constexpr int kMostInFloat = 16;  // bounds the float32 rounding for rows of any length

  void add_lanes() {
    sum_ = std::accumulate(lanes_, std::end(lanes_), sum_);
    std::fill(lanes_, std::end(lanes_), 0.0F);
    added_ = 0;
  }

  double sum_ = 0;
  int added_ = 0;  ///< number of values added to each lane since add_lanes
  HWY_ALIGN float lanes_[64 / sizeof(float)] = {};
};

HWY_NOINLINE void temper_for_target(float* values, std::int64_t count, float inverse) {
  Lanes before, peaks, after;
  for_lanes<float>(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto value = hn::LoadU(d, values + i);
    const auto magnitude = hn::IfThenElseZero(hn::IsFinite(value), hn::Abs(value));
    before.add(d, magnitude);
    peaks.keep_greatest(d, magnitude);
  });
  const float peak = peaks.greatest();
  if (peak == 0) return;
  const float log_peak = std::log(peak);
  for_lanes<float>(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto value = hn::LoadU(d, values + i);
    const auto magnitude = hn::Abs(value);
    // The logarithm of 0 differs between instruction sets, so zeros are handled separately.
    const auto logarithm =
        hn::Log(d, hn::Max(magnitude, hn::Set(d, std::numeric_limits<float>::min())));
    const auto exponent = hn::Mul(hn::Sub(logarithm, hn::Set(d, log_peak)), hn::Set(d, inverse));
    const auto takes_part = hn::And(hn::IsFinite(value), hn::Gt(magnitude, hn::Zero(d)));
    const auto power = hn::IfThenElseZero(takes_part, hn::Exp(d, exponent));
    after.add(d, power);
    hn::StoreU(hn::IfThenElse(takes_part, hn::CopySign(power, value), value), d, values + i);
  });
  const auto factor = static_cast<float>(before.sum() / after.sum());
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
