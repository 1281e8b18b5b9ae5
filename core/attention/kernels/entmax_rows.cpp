#include "core/attention/kernels/entmax_rows.h"

#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/attention/kernels/entmax_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/highway.h>

#include "core/attention/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Calls use(vector) for all numbers of a row, the last vector padded with −∞.
template <class Use>
HWY_INLINE void for_padded_row(const float* row, std::int64_t columns, const Use& use) {
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) use(hn::LoadU(d, row + j));
  if (j == columns) return;
  HWY_ALIGN float tail[hn::MaxLanes(d)];
  for (std::int64_t k = 0; k < lanes; ++k) {
    tail[k] = j + k < columns ? row[j + k] : -std::numeric_limits<float>::infinity();
  }
  use(hn::Load(d, tail));
}

/// The largest number of a row. NaN if the row holds NaN or +inf, or only −inf.
HWY_INLINE float finite_maximum(const float* row, std::int64_t columns) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const hn::CappedTag<float, 16> d;
  auto greatest = hn::Set(d, -kInfinity);
  auto proper = hn::Lt(greatest, hn::Zero(d));  // false for NaN, which Max does not propagate
  for_padded_row(row, columns, [&](auto score) HWY_ATTR {
    greatest = hn::Max(greatest, score);
    proper = hn::And(proper, hn::Lt(score, hn::Set(d, kInfinity)));
  });
  const float found = hn::GetLane(hn::MaxOfLanes(d, greatest));
  const bool finite = hn::AllTrue(d, proper) && found > -kInfinity;
  return finite ? found : std::numeric_limits<float>::quiet_NaN();
}

/// The next threshold by Newton's method, from the sum of the weights max(score − threshold, 0)^P
/// and its slope.
template <int kPower>
HWY_INLINE float next_threshold(const float* row, std::int64_t columns, float threshold) {
  const hn::CappedTag<float, 16> d;
  const auto zero = hn::Zero(d), shift = hn::Set(d, threshold);
  auto sum = zero, slope = zero;
  for_padded_row(row, columns, [&](auto score) HWY_ATTR {
    const auto above = hn::Max(hn::Sub(score, shift), zero);
    if constexpr (kPower == 1) {
      sum = hn::Add(sum, above);
      slope = hn::Add(slope, hn::IfThenElseZero(hn::Gt(above, zero), hn::Set(d, 1.0F)));
    } else {
      sum = hn::MulAdd(above, above, sum);
      slope = hn::Add(slope, hn::Add(above, above));
    }
  });
  return threshold +
         (hn::GetLane(hn::SumOfLanes(d, sum)) - 1) / hn::GetLane(hn::SumOfLanes(d, slope));
}

/// The sum of the weights is convex and falls with the threshold. From one below the largest score
/// on, where it is at least 1, every step of Newton's method stays below the root; the steps end
/// when float32 resolves none.
template <int kPower>
HWY_INLINE void entmax_row(float* HWY_RESTRICT row, std::int64_t columns) {
  constexpr int kMostSteps = 100;
  const float greatest = finite_maximum(row, columns);
  for_lanes<float>(columns, [&](auto d, std::int64_t j) HWY_ATTR {
    const auto score = hn::Sub(hn::LoadU(d, row + j), hn::Set(d, greatest));
    hn::StoreU(hn::Mul(score, hn::Set(d, 1.0F / kPower)), d, row + j);
  });
  if (greatest != greatest) {
    for (std::int64_t j = 0; j < columns; ++j) row[j] = greatest;
    return;
  }
  float threshold = -1;
  for (int step = 0; step < kMostSteps; ++step) {
    const float next = next_threshold<kPower>(row, columns, threshold);
    if (!(next > threshold && next < 0)) break;
    threshold = next;
  }
  for_lanes<float>(columns, [&](auto d, std::int64_t j) HWY_ATTR {
    const auto above = hn::Max(hn::Sub(hn::LoadU(d, row + j), hn::Set(d, threshold)), hn::Zero(d));
    hn::StoreU(kPower == 1 ? above : hn::Mul(above, above), d, row + j);
  });
}

HWY_NOINLINE void entmax_rows_for_target(float* scores, std::int64_t rows, std::int64_t columns,
                                         std::int64_t stride, int power) {
  for (std::int64_t i = 0; i < rows; ++i) {
    float* const row = scores + i * stride;
    if (power == 1) {
      entmax_row<1>(row, columns);
    } else {
      entmax_row<2>(row, columns);
    }
  }
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(entmax_rows_for_target);

void entmax_rows(StridedMatrixMap scores, int power) {
  if (scores.size() == 0) return;
  HWY_DYNAMIC_DISPATCH(entmax_rows_for_target)
  (scores.data(), scores.rows(), scores.cols(), scores.outerStride(), power);
}

}  // namespace attnscope
#endif
