#include "core/attention/kernels/softmax_rows.h"

#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/softmax_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void softmax_row(float* HWY_RESTRICT row, std::int64_t columns) {
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t whole = columns / lanes * lanes;
  const std::int64_t rest = columns - whole;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  // The rest of the row, padded with −∞, which a softmax ignores.
  HWY_ALIGN float tail[hn::MaxLanes(d)];
  for (std::int64_t j = 0; j < lanes; ++j) tail[j] = j < rest ? row[whole + j] : kLowest;

  // False for NaN and +inf, which Max and Exp do not propagate.
  const auto below_infinity = [d](auto v) { return hn::Lt(v, hn::Set(d, -kLowest)); };
  auto greatest = hn::Load(d, tail);
  auto proper = below_infinity(greatest);
  for (std::int64_t j = 0; j < whole; j += lanes) {
    const auto score = hn::LoadU(d, row + j);
    greatest = hn::Max(greatest, score);
    proper = hn::And(proper, below_infinity(score));
  }
  const auto shift = hn::MaxOfLanes(d, greatest);
  if (!hn::AllTrue(d, proper) || hn::GetLane(shift) == kLowest) {
    for (std::int64_t j = 0; j < columns; ++j) row[j] = std::numeric_limits<float>::quiet_NaN();
    return;
  }

  auto sum = hn::Zero(d);
  for (std::int64_t j = 0; j < whole; j += lanes) {
    const auto weight = hn::Exp(d, hn::Sub(hn::LoadU(d, row + j), shift));
    hn::StoreU(weight, d, row + j);
    sum = hn::Add(sum, weight);
  }
  const auto last = hn::Exp(d, hn::Sub(hn::Load(d, tail), shift));
  hn::Store(last, d, tail);
  sum = hn::Add(sum, last);

  const auto factor = hn::Div(hn::Set(d, 1.0F), hn::SumOfLanes(d, sum));
  for (std::int64_t j = 0; j < whole; j += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + j), factor), d, row + j);
  }
  hn::Store(hn::Mul(hn::Load(d, tail), factor), d, tail);
  for (std::int64_t j = 0; j < rest; ++j) row[whole + j] = tail[j];
}

HWY_NOINLINE void softmax_rows_for_target(float* scores, std::int64_t rows, std::int64_t columns,
                                          std::int64_t stride) {
  for (std::int64_t i = 0; i < rows; ++i) softmax_row(scores + i * stride, columns);
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(softmax_rows_for_target);

void softmax_rows(StridedMatrixMap scores) {
  if (scores.size() == 0) return;
  HWY_DYNAMIC_DISPATCH(softmax_rows_for_target)
  (scores.data(), scores.rows(), scores.cols(), scores.outerStride());
}

}  // namespace attnscope
#endif
