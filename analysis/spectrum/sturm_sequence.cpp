#include <algorithm>

#include "analysis/spectrum/tridiagonal_values.h"

namespace attnscope {

#ifndef ATTNSCOPE_STURM_BLOCK
#define ATTNSCOPE_STURM_BLOCK
/// Block of points that are evaluated together, as structure of arrays.
struct SturmBlock {
  static constexpr int kPoints = 32;
  double x[kPoints], value[kPoints];
  std::int64_t exponent[kPoints], above[kPoints];
};
#endif

}  // namespace attnscope

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "analysis/spectrum/sturm_sequence.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// highway.h must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#undef ATTNSCOPE_UNROLL
#define ATTNSCOPE_UNROLL _Pragma("GCC unroll 8")

// Number of steps between two corrections of the scale. One step multiplies the greater of two
// successive p by at most 8 and at least 2⁻¹¹⁴.
constexpr std::size_t kSteps = 8;

/// Computes p_{i+1} = (x − d_i) p_i − e_i² p_{i−1} for Vectors · lanes points of the block,
/// beginning with `from`. Each change of sign between successive p is one eigenvalue above x.
template <bool HasDiagonal, bool Counts, int Vectors>
HWY_INLINE void run(std::span<const double> diagonal, std::span<const double> squares,
                    SturmBlock& block, std::size_t from) {
  const hn::CappedTag<double, 8> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const hn::RebindToSigned<decltype(d)> whole;
  using V = hn::Vec<decltype(d)>;
  using Bits = hn::Vec<decltype(bits)>;
  const std::size_t lanes = hn::Lanes(d);
  V x[Vectors], p[Vectors], before[Vectors];
  Bits above[Vectors], exponent[Vectors];
  ATTNSCOPE_UNROLL
  for (int k = 0; k < Vectors; ++k) {
    x[k] = hn::LoadU(d, block.x + from + static_cast<std::size_t>(k) * lanes);
    p[k] = HasDiagonal ? hn::Sub(x[k], hn::Set(d, diagonal[0])) : x[k];
    before[k] = hn::Set(d, 1.0);
    above[k] = hn::ShiftRight<63>(hn::BitCast(bits, p[k]));
    exponent[k] = hn::Zero(bits);
  }
  const auto step = [&](std::size_t i) HWY_ATTR {
    const V square = hn::Set(d, squares[i - 1]);
    const V own = HasDiagonal ? hn::Set(d, diagonal[i]) : hn::Zero(d);
    ATTNSCOPE_UNROLL
    for (int k = 0; k < Vectors; ++k) {
      const V shifted = HasDiagonal ? hn::Sub(x[k], own) : x[k];
      const V next = hn::MulSub(shifted, p[k], hn::Mul(square, before[k]));
      if (Counts) {
        const Bits differ = hn::Xor(hn::BitCast(bits, next), hn::BitCast(bits, p[k]));
        above[k] = hn::Add(above[k], hn::ShiftRight<63>(differ));
      }
      before[k] = p[k];
      p[k] = next;
    }
  };
  std::int64_t corrections = 0;
  const auto correct = [&]() HWY_ATTR {
    ++corrections;
    ATTNSCOPE_UNROLL
    for (int k = 0; k < Vectors; ++k) {
      const V greater = hn::Max(hn::Abs(p[k]), hn::Abs(before[k]));
      const Bits biased = hn::ShiftRight<52>(hn::BitCast(bits, greater));
      const V scale = hn::BitCast(d, hn::ShiftLeft<52>(hn::Sub(hn::Set(bits, 2046), biased)));
      exponent[k] = hn::Add(exponent[k], biased);
      p[k] = hn::Mul(p[k], scale);
      before[k] = hn::Mul(before[k], scale);
    }
  };
  const std::size_t size = squares.size() + 1;
  std::size_t i = 1;
  for (; i + kSteps <= size; i += kSteps) {
    ATTNSCOPE_UNROLL
    for (std::size_t t = 0; t < kSteps; ++t) step(i + t);
    correct();
  }
  for (; i < size; ++i) step(i);
  correct();
  const auto bias = hn::Set(whole, 1023 * corrections);
  ATTNSCOPE_UNROLL
  for (int k = 0; k < Vectors; ++k) {
    const std::size_t to = from + static_cast<std::size_t>(k) * lanes;
    hn::StoreU(p[k], d, block.value + to);
    hn::StoreU(hn::Sub(hn::BitCast(whole, exponent[k]), bias), whole, block.exponent + to);
    if (Counts) hn::StoreU(hn::BitCast(whole, above[k]), whole, block.above + to);
  }
}

/// Runs as many vectors at once as fit into registers, to hide the latency of a step.
template <bool HasDiagonal, bool Counts>
HWY_INLINE void run_block(std::span<const double> diagonal, std::span<const double> squares,
                          SturmBlock& block, std::size_t count) {
#if HWY_TARGET <= HWY_AVX3
  constexpr int kVectors = 4;
#else
  constexpr int kVectors = 2;
#endif
  const std::size_t lanes = hn::Lanes(hn::CappedTag<double, 8>());
  std::size_t i = 0;
  for (; i + (kVectors - 1) * lanes < count; i += kVectors * lanes) {
    run<HasDiagonal, Counts, kVectors>(diagonal, squares, block, i);
  }
  for (; i < count; i += lanes) run<HasDiagonal, Counts, 1>(diagonal, squares, block, i);
}

HWY_NOINLINE void sturm_block_for_target(std::span<const double> diagonal,
                                         std::span<const double> squares, SturmBlock& block,
                                         std::size_t count, bool counts) {
  if (diagonal.empty()) {
    counts ? run_block<false, true>(diagonal, squares, block, count)
           : run_block<false, false>(diagonal, squares, block, count);
  } else {
    counts ? run_block<true, true>(diagonal, squares, block, count)
           : run_block<true, false>(diagonal, squares, block, count);
  }
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(sturm_block_for_target);

SturmSequence::SturmSequence(std::vector<double> diagonal, std::span<const double> off_diagonal)
    : diagonal_(std::move(diagonal)) {
  squares_.reserve(off_diagonal.size());
  for (const double value : off_diagonal) squares_.push_back(std::max(value * value, 0x1p-112));
}

void SturmSequence::evaluate(std::vector<SturmPoint>& points, Counts counts) const {
  SturmBlock block{};
  for (std::size_t first = 0; first < points.size(); first += SturmBlock::kPoints) {
    const std::size_t count = std::min<std::size_t>(SturmBlock::kPoints, points.size() - first);
    for (std::size_t i = 0; i < count; ++i) block.x[i] = points[first + i].x;
    HWY_DYNAMIC_DISPATCH(sturm_block_for_target)
    (diagonal_, squares_, block, count, counts == Counts::yes);
    for (std::size_t i = 0; i < count; ++i) {
      points[first + i] = {block.x[i], block.value[i], block.exponent[i], block.above[i]};
    }
  }
}

}  // namespace attnscope
#endif
