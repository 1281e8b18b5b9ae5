#include "core/attention/kernels/hamming.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/hamming.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_NOINLINE void hamming_for_target(std::uint64_t code, const std::uint64_t* HWY_RESTRICT codes,
                                     std::size_t count, float base, float step,
                                     float* HWY_RESTRICT out) {
  const hn::ScalableTag<std::uint64_t> words;
  const hn::Rebind<std::uint32_t, decltype(words)> counts;
  const hn::RebindToSigned<decltype(counts)> whole;
  const hn::RebindToFloat<decltype(counts)> numbers;
  const auto query = hn::Set(words, code);
  const auto greatest = hn::Set(numbers, base), minus_step = hn::Set(numbers, -step);
  const auto affinities = [&](auto keys) {
    const auto different = hn::PopulationCount(hn::Xor(keys, query));
    const auto few = hn::BitCast(whole, hn::TruncateTo(counts, different));
    return hn::MulAdd(hn::ConvertTo(numbers, few), minus_step, greatest);
  };
  const std::size_t lanes = hn::Lanes(words);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    hn::StoreU(affinities(hn::LoadU(words, codes + j)), numbers, out + j);
  }
  if (j == count) return;
  // The remaining codes are padded to a full vector.
  HWY_ALIGN std::uint64_t keys[hn::MaxLanes(words)] = {};
  HWY_ALIGN float found[hn::MaxLanes(words)];
  for (std::size_t k = 0; k < count - j; ++k) keys[k] = codes[j + k];
  hn::StoreU(affinities(hn::Load(words, keys)), numbers, found);
  for (std::size_t k = 0; k < count - j; ++k) out[j + k] = found[k];
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(hamming_for_target);

void hamming_affinities(std::uint64_t code, std::span<const std::uint64_t> codes, float base,
                        float step, float* out) {
  HWY_DYNAMIC_DISPATCH(hamming_for_target)
  (code, codes.data(), codes.size(), base, step, out);
}

}  // namespace attnscope
#endif
