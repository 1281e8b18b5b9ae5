// The loop over numbers side by side that kernels share, once for each set of instructions.
#if defined(ATTNSCOPE_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNSCOPE_LANES_INL_H
#undef ATTNSCOPE_LANES_INL_H
#else
#define ATTNSCOPE_LANES_INL_H
#endif

#include <cstdint>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

/// Calls use(tag, first of its numbers) for all `count` of them: as many at once as the processor
/// takes, at most 64 bytes, then of those that are left a quarter as many at once, then one by one.
template <class Number, class Use>
HWY_INLINE void for_lanes(std::int64_t count, const Use& use) {
  std::int64_t i = 0;
  const auto for_all = [&](auto d) HWY_ATTR {
    const auto lanes = static_cast<std::int64_t>(hwy::HWY_NAMESPACE::Lanes(d));
    for (; i + lanes <= count; i += lanes) use(d, i);
  };
  for_all(hwy::HWY_NAMESPACE::CappedTag<Number, 64 / sizeof(Number)>());
  for_all(hwy::HWY_NAMESPACE::CappedTag<Number, 16 / sizeof(Number)>());
  for_all(hwy::HWY_NAMESPACE::CappedTag<Number, 1>());
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ATTNSCOPE_LANES_INL_H
