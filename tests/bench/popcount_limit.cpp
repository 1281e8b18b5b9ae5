#include "tests/bench/popcount_limit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/popcount_limit.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// highway.h must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_NOINLINE Affinities popcount_for_target(std::int64_t count) {
  const hn::ScalableTag<std::uint64_t> words;
  const hn::Rebind<std::uint32_t, decltype(words)> counts;
  const hn::RebindToSigned<decltype(counts)> whole;
  const hn::RebindToFloat<decltype(counts)> numbers;
  const auto base = hn::Set(numbers, 64.0F), step = hn::Set(numbers, -2.0F);
  const auto change = hn::Set(words, 0x9e3779b97f4a7c15U);
  auto x0 = hn::Iota(words, 1), x1 = hn::Iota(words, 11), x2 = hn::Iota(words, 111),
       x3 = hn::Iota(words, 1111);
  auto s0 = hn::Zero(numbers), s1 = s0, s2 = s0, s3 = s0;
  const auto affinity = [&](auto x) {
    const auto different = hn::PopulationCount(hn::Xor(x, change));
    const auto few = hn::BitCast(whole, hn::TruncateTo(counts, different));
    return hn::MulAdd(hn::ConvertTo(numbers, few), step, base);
  };
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(words));
  const std::int64_t rounds = count / (4 * lanes) + 1;
  for (std::int64_t round = 0; round < rounds; ++round) {
    s0 = hn::Max(s0, affinity(x0));
    s1 = hn::Max(s1, affinity(x1));
    s2 = hn::Max(s2, affinity(x2));
    s3 = hn::Max(s3, affinity(x3));
    // Codes change in each round: otherwise the compiler could compute a single round.
    x0 = hn::Add(x0, change);
    x1 = hn::Add(x1, change);
    x2 = hn::Add(x2, change);
    x3 = hn::Add(x3, change);
  }
  const auto sum = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  return {rounds * 4 * lanes, hn::GetLane(hn::SumOfLanes(numbers, sum))};
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(popcount_for_target);

Affinities popcount_in_registers(std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(popcount_for_target)(count);
}

}  // namespace attnscope
#endif
