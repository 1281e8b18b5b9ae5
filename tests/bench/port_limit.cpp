#include "tests/bench/port_limit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/port_limit.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// highway.h must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <bool Fused>
HWY_INLINE Differences make_differences(std::int64_t count) {
  const hn::CappedTag<float, 16> d;
  // Eight independent sums hide the latency of an addition and fit into 16 registers.
  const auto one = hn::Set(d, 1.0F);
  const auto step = hn::Iota(d, 0.5F);
  // Sums start with different values: otherwise the compiler would merge them.
  auto s0 = hn::Iota(d, 1.0F), s1 = hn::Iota(d, 2.0F), s2 = hn::Iota(d, 3.0F),
       s3 = hn::Iota(d, 4.0F), s4 = hn::Iota(d, 5.0F), s5 = hn::Iota(d, 6.0F),
       s6 = hn::Iota(d, 7.0F), s7 = hn::Iota(d, 8.0F);
  const auto difference = [&](auto a) {
    return hn::Abs(Fused ? hn::MulSub(a, one, step) : hn::Sub(a, step));
  };
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t rounds = count / (8 * lanes) + 1;
  for (std::int64_t round = 0; round < rounds; ++round) {
    // Each difference depends on its own sum: it can neither be hoisted nor merged.
    s0 = hn::Add(s0, difference(s0));
    s1 = hn::Add(s1, difference(s1));
    s2 = hn::Add(s2, difference(s2));
    s3 = hn::Add(s3, difference(s3));
    s4 = hn::Add(s4, difference(s4));
    s5 = hn::Add(s5, difference(s5));
    s6 = hn::Add(s6, difference(s6));
    s7 = hn::Add(s7, difference(s7));
  }
  const auto sum =
      hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)));
  return {rounds * 8 * lanes, hn::GetLane(hn::SumOfLanes(d, sum))};
}

HWY_NOINLINE Differences subtract_and_add_for_target(std::int64_t count) {
  return make_differences<false>(count);
}
HWY_NOINLINE Differences fuse_and_add_for_target(std::int64_t count) {
  return make_differences<true>(count);
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(subtract_and_add_for_target);
HWY_EXPORT(fuse_and_add_for_target);

Differences subtract_and_add(std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(subtract_and_add_for_target)(count);
}

Differences fuse_and_add(std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(fuse_and_add_for_target)(count);
}

}  // namespace attnscope
#endif
