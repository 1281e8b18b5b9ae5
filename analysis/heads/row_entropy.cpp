#include "analysis/heads/row_entropy.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "analysis/heads/row_entropy.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// Highway headers must follow foreach_target.h.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_NOINLINE double entropy_for_target(std::span<const double> weights) {
  const hn::CappedTag<double, 8> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto none = hn::Zero(d), one = hn::Set(d, 1.0);
  auto sum = none;
  std::size_t i = 0;
  for (; i + lanes <= weights.size(); i += lanes) {
    const auto weight = hn::LoadU(d, weights.data() + i);
    const auto positive = hn::IfThenElse(hn::Gt(weight, none), weight, one);  // 1 ln 1 is 0
    sum = hn::NegMulAdd(positive, hn::Log(d, positive), sum);
  }
  double entropy = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < weights.size(); ++i) {
    if (weights[i] > 0) entropy -= weights[i] * std::log(weights[i]);
  }
  return entropy;
}

HWY_NOINLINE double normalise_for_target(std::span<double> weights, std::span<double> totals) {
  const hn::CappedTag<double, 8> d;
  const std::size_t lanes = hn::Lanes(d), count = weights.size();
  const std::size_t whole = count / lanes * lanes;
  auto sums = hn::Zero(d);
  for (std::size_t i = 0; i < whole; i += lanes) {
    sums = hn::Add(sums, hn::LoadU(d, weights.data() + i));
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (std::size_t i = whole; i < count; ++i) sum += weights[i];
  if (!(sum > 0)) return 0;
  const auto divisor = hn::Set(d, sum);
  for (std::size_t i = 0; i < whole; i += lanes) {
    const auto share = hn::Div(hn::LoadU(d, weights.data() + i), divisor);
    hn::StoreU(share, d, weights.data() + i);
    hn::StoreU(hn::Add(hn::LoadU(d, totals.data() + i), share), d, totals.data() + i);
  }
  for (std::size_t i = whole; i < count; ++i) totals[i] += weights[i] /= sum;
  return entropy_for_target(weights);
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(entropy_for_target);
HWY_EXPORT(normalise_for_target);

double entropy_of(std::span<const double> weights) {
  return HWY_DYNAMIC_DISPATCH(entropy_for_target)(weights);
}

double normalise(std::span<double> weights, std::span<double> totals) {
  return HWY_DYNAMIC_DISPATCH(normalise_for_target)(weights, totals);
}

}  // namespace attnscope
#endif
