#include "analysis/spectrum/eigenvalue_batch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <hwy/aligned_allocator.h>
#include <utility>

#include "analysis/spectrum/tridiagonal_values.h"

namespace attnscope {

#ifndef ATTNSCOPE_LANES_OF_MATRICES
#define ATTNSCOPE_LANES_OF_MATRICES
/// Interleaved matrices: entry i of matrix m is at i · kEigenvalueBatch + m. ‖T‖ is about 1.
struct MatrixLanes {
  std::size_t size, count;
  double* diagonal;
  double* squares;  ///< squares of the neighbouring diagonal; the last row is padding
  bool* converged;
};
#endif

}  // namespace attnscope

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "analysis/spectrum/eigenvalue_batch.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// highway.h must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#undef ATTNSCOPE_UNROLL
#define ATTNSCOPE_UNROLL _Pragma("GCC unroll 4")

// A diagonal entry is an eigenvalue if the squared entry next to it is at most kAlone, one rounding
// of ‖T‖ squared; squares within a cluster do not fall below that. Squares are at least kLeast to
// avoid divisions by 0.
constexpr double kAlone = 0x1p-104, kLeast = 0x1p-200;
// Smallest cosine c for which p / c is computed; below it rounding dominates, and the limit is
// used.
constexpr double kNoCosine = 0x1p-120;
// Maximum number of sweeps per eigenvalue; two to three are typical.
constexpr int kMostSweeps = 60;

using Doubles = hn::CappedTag<double, 8>;
using V = hn::Vec<Doubles>;

HWY_INLINE V all(double value) { return hn::Set(Doubles(), value); }

/// State that a sweep carries from row to row, for one SIMD vector of matrices.
struct Carried {
  V shift, cosine, sine, gamma, p;

  HWY_INLINE void begin(V last, V by) {
    shift = by;
    cosine = all(1);
    sine = all(0);
    gamma = hn::Sub(last, shift);
    p = hn::Mul(gamma, gamma);
  }

  /// Processes row i with its diagonal entry `own` and the squared entry `square` next to it.
  /// Returns the new diagonal entry of the following row and the squared entry next to that.
  HWY_INLINE void step(V own, V square, V& next_own, V& next_square) {
    const V r = hn::Add(p, square);
    next_square = hn::Max(hn::Mul(sine, r), all(kLeast));
    const V inverse = hn::Div(all(1), r), ratio = hn::Div(r, p), before = gamma;
    const V limit = hn::Mul(cosine, square);
    cosine = hn::Mul(p, inverse);
    sine = hn::Mul(square, inverse);
    gamma = hn::MulSub(cosine, hn::Sub(own, shift), hn::Mul(sine, before));
    next_own = hn::Add(before, hn::Sub(own, gamma));
    p = hn::IfThenElse(hn::Gt(cosine, all(kNoCosine)), hn::Mul(hn::Mul(gamma, gamma), ratio),
                       limit);
  }

  HWY_INLINE void step_where(hn::Mask<Doubles> where, V own, V square, V& next_own,
                             V& next_square) {
    Carried after = *this;
    V moved_own, moved_square;
    after.step(own, square, moved_own, moved_square);
    next_own = hn::IfThenElse(where, moved_own, next_own);
    next_square = hn::IfThenElse(where, moved_square, next_square);
    cosine = hn::IfThenElse(where, after.cosine, cosine);
    sine = hn::IfThenElse(where, after.sine, sine);
    gamma = hn::IfThenElse(where, after.gamma, gamma);
    p = hn::IfThenElse(where, after.p, p);
  }
};

/// Wilkinson's shift: the eigenvalue of the first two rows' block that is nearer to the first
/// entry.
HWY_INLINE V shift_of(V first, V second, V square) {
  const V off_diagonal = hn::Sqrt(square);
  const V slope = hn::Div(hn::Sub(second, first), hn::Add(off_diagonal, off_diagonal));
  const V root = hn::Sqrt(hn::MulAdd(slope, slope, all(1)));
  return hn::Sub(first, hn::Div(off_diagonal, hn::Add(slope, hn::CopySign(root, slope))));
}

/// Finds the eigenvalues of up to Vectors · lanes matrices from `from` on. Each matrix has its own
/// last row of a sweep, the first row whose eigenvalue is unknown. Lanes of finished matrices
/// continue with values that are not read.
template <int Vectors>
HWY_INLINE void find(const MatrixLanes& all_matrices, std::size_t from, std::size_t count,
                     double* found) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d), size = all_matrices.size;
  constexpr std::size_t kRow = kEigenvalueBatch, kMost = std::size_t{8} * Vectors;
  double* const diagonal = all_matrices.diagonal + from;
  double* const squares = all_matrices.squares + from;
  HWY_ALIGN double first[kMost], second[kMost], off_diagonal[kMost], ends[kMost];
  std::size_t end[kMost], active = count;
  int sweeps[kMost];
  std::fill_n(end, kMost, std::size_t{0});
  std::fill_n(sweeps, kMost, 0);
  const auto finish = [&](std::size_t m, bool converged) {
    for (std::size_t i = 0; i < size; ++i) found[(from + m) * size + i] = diagonal[i * kRow + m];
    all_matrices.converged[from + m] = converged;
    end[m] = size;
    --active;
  };
  for (;;) {
    std::size_t least = size - 1, greatest = 0;
    for (std::size_t m = 0; m < Vectors * lanes; ++m) {
      if (m < count && end[m] < size) {
        std::size_t& l = end[m];
        for (; l + 1 < size && squares[l * kRow + m] <= kAlone; ++l) sweeps[m] = 0;
        if (l + 1 == size || ++sweeps[m] > kMostSweeps) finish(m, l + 1 == size);
      }
      const std::size_t l = std::min(end[m], size - 1);
      const bool is_active = m < count && end[m] < size;
      first[m] = diagonal[l * kRow + m];
      second[m] = is_active ? diagonal[(l + 1) * kRow + m] : 0;
      off_diagonal[m] = is_active ? squares[l * kRow + m] : 1;
      ends[m] = static_cast<double>(is_active ? l : 0);
      if (is_active) {
        least = std::min(least, l);
        greatest = std::max(greatest, l);
      }
    }
    if (active == 0) return;
    Carried carried[Vectors];
    ATTNSCOPE_UNROLL
    for (int k = 0; k < Vectors; ++k) {
      const std::size_t at = static_cast<std::size_t>(k) * lanes;
      carried[k].begin(hn::LoadU(d, diagonal + (size - 1) * kRow + at),
                       shift_of(hn::Load(d, first + at), hn::Load(d, second + at),
                                hn::Load(d, off_diagonal + at)));
    }
    std::size_t i = size - 1;
    while (i > greatest) {
      --i;
      ATTNSCOPE_UNROLL
      for (int k = 0; k < Vectors; ++k) {
        const std::size_t at = i * kRow + static_cast<std::size_t>(k) * lanes;
        V own, square;
        carried[k].step(hn::LoadU(d, diagonal + at), hn::LoadU(d, squares + at), own, square);
        hn::StoreU(own, d, diagonal + at + kRow);
        hn::StoreU(square, d, squares + at + kRow);
      }
    }
    while (i > least) {
      --i;
      const V row = all(static_cast<double>(i));
      ATTNSCOPE_UNROLL
      for (int k = 0; k < Vectors; ++k) {
        const std::size_t lane = static_cast<std::size_t>(k) * lanes, at = i * kRow + lane;
        V own = hn::LoadU(d, diagonal + at + kRow), square = hn::LoadU(d, squares + at + kRow);
        carried[k].step_where(hn::Le(hn::Load(d, ends + lane), row), hn::LoadU(d, diagonal + at),
                              hn::LoadU(d, squares + at), own, square);
        hn::StoreU(own, d, diagonal + at + kRow);
        hn::StoreU(square, d, squares + at + kRow);
      }
    }
    ATTNSCOPE_UNROLL
    for (int k = 0; k < Vectors; ++k) {
      const std::size_t at = static_cast<std::size_t>(k) * lanes;
      hn::Store(hn::Add(carried[k].shift, carried[k].gamma), d, first + at);
      hn::Store(hn::Mul(carried[k].sine, carried[k].p), d, off_diagonal + at);
    }
    for (std::size_t m = 0; m < count; ++m) {
      if (end[m] >= size) continue;
      diagonal[end[m] * kRow + m] = first[m];
      squares[end[m] * kRow + m] = std::max(off_diagonal[m], kLeast);
    }
  }
}

HWY_NOINLINE void find_for_target(const MatrixLanes& matrices, double* found) {
  const std::size_t lanes = hn::Lanes(Doubles());
  constexpr std::size_t kVectors = 3;
  for (std::size_t from = 0; from < matrices.count; from += kVectors * lanes) {
    const std::size_t count = std::min(kVectors * lanes, matrices.count - from);
    if (count > 2 * lanes) {
      find<3>(matrices, from, count, found);
    } else if (count > lanes) {
      find<2>(matrices, from, count, found);
    } else {
      find<1>(matrices, from, count, found);
    }
  }
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(find_for_target);

std::vector<std::optional<std::vector<double>>> all_eigenvalues(
    std::span<const TwoDiagonals* const> matrices) {
  constexpr std::size_t kBatch = kEigenvalueBatch;
  std::vector<std::optional<std::vector<double>>> all(matrices.size());
  for (std::size_t begin = 0; begin < matrices.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, matrices.size() - begin);
    const std::size_t size = matrices[begin]->diagonal.size();
    const auto lanes = hwy::AllocateAligned<double>(2 * size * kBatch);
    double* const diagonal = lanes.get();
    double* const squares = diagonal + size * kBatch;
    std::fill_n(diagonal, 2 * size * kBatch, 1.0);
    int exponents[kBatch] = {};
    bool converged[kBatch] = {};
    for (std::size_t m = 0; m < count; ++m) {
      const auto& [own, off_diagonal] = *matrices[begin + m];
      const double bound = greatest_row_sum(own, off_diagonal);
      if (!std::isfinite(bound)) continue;
      exponents[m] = bound > 0 ? std::max(std::ilogb(bound), -1020) : 0;
      const double down = std::ldexp(1.0, -exponents[m]);
      for (std::size_t i = 0; i < size; ++i) diagonal[i * kBatch + m] = own[i] * down;
      for (std::size_t i = 0; i + 1 < size; ++i) {
        const double entry = off_diagonal[i] * down;
        squares[i * kBatch + m] = std::max(entry * entry, 0x1p-112);
      }
      converged[m] = true;
    }
    std::vector<double> found(size * count);
    bool finite[kBatch];
    std::copy_n(converged, kBatch, finite);
    HWY_DYNAMIC_DISPATCH(find_for_target)
    ({size, count, diagonal, squares, converged}, found.data());
    for (std::size_t m = 0; m < count; ++m) {
      if (!finite[m] || !converged[m]) continue;
      const auto first = found.begin() + static_cast<std::ptrdiff_t>(m * size);
      std::vector<double> values(first, first + static_cast<std::ptrdiff_t>(size));
      for (double& value : values) value = std::ldexp(std::max(value, 0.0), exponents[m]);
      std::ranges::sort(values, std::greater<>());
      all[begin + m] = std::move(values);
    }
  }
  return all;
}

}  // namespace attnscope
#endif
