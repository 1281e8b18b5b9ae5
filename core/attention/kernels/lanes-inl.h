// Vector loop shared by the kernels, compiled once per instruction set.
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

/// Calls use(tag, index of the first lane) until all `count` numbers are covered: full vectors of
/// at most 64 bytes first, then vectors of at most 16 bytes, then single numbers.
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
