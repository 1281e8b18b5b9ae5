#include "analysis/spectrum/condensed_form.h"

#include <algorithm>
#include <cmath>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "analysis/spectrum/condensed_form.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// highway.h must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Values per row of a group stay in registers only if loops over the rows are unrolled.
#undef ATTNSCOPE_UNROLL
#define ATTNSCOPE_UNROLL _Pragma("GCC unroll 4")

using Doubles = hn::CappedTag<double, PaddedMatrix::kBlock>;
using V = hn::Vec<Doubles>;
using Index = Eigen::Index;

// Number of rows that share the loads of their columns: as many as 32 or 16 registers allow.
#if HWY_TARGET <= HWY_AVX3
constexpr Index kRows = 4;
#else
constexpr Index kRows = 2;
#endif

HWY_INLINE Index lanes() { return static_cast<Index>(hn::Lanes(Doubles())); }
HWY_INLINE V load(const double* from) { return hn::Load(Doubles(), from); }
HWY_INLINE V all(double value) { return hn::Set(Doubles(), value); }
HWY_INLINE void store(V value, double* to) { hn::Store(value, Doubles(), to); }
HWY_INLINE double sum(V values) { return hn::GetLane(hn::SumOfLanes(Doubles(), values)); }
HWY_INLINE Index padded(Index n) { return PaddedMatrix::padded(n); }

/// to[r] += sum of the lanes of sums[r], for each row of a group.
HWY_INLINE void add_sums(const V (&sums)[kRows], double* to) {
#if HWY_TARGET <= HWY_AVX3
  // Four sums at once need half the additions and shuffles of four single ones.
  const Doubles d;
  const V two =
      hn::Add(hn::InterleaveLower(d, sums[0], sums[1]), hn::InterleaveUpper(d, sums[0], sums[1]));
  const V others =
      hn::Add(hn::InterleaveLower(d, sums[2], sums[3]), hn::InterleaveUpper(d, sums[2], sums[3]));
  const V halves =
      hn::Add(hn::ConcatLowerLower(d, others, two), hn::ConcatUpperUpper(d, others, two));
  HWY_ALIGN double all_sums[PaddedMatrix::kBlock];
  store(hn::Add(halves, hn::SwapAdjacentBlocks(halves)), all_sums);
  to[0] += all_sums[0];
  to[1] += all_sums[1];
  to[2] += all_sums[4];
  to[3] += all_sums[5];
#else
  for (Index r = 0; r < kRows; ++r) to[r] += sum(sums[r]);
#endif
}

/// One value per row of a group, in all lanes.
struct OfRows {
  V row[kRows];

  static HWY_INLINE OfRows load(const double* from) {
    OfRows values;
    ATTNSCOPE_UNROLL
    for (Index r = 0; r < kRows; ++r) values.row[r] = all(from[r]);
    return values;
  }
};

/// Vectors of a matrix's rows or columns, each padded to whole blocks and initialised to 0.
class Vectors {
 public:
  Vectors(Index count, Index n)
      : room_(padded(n)),
        values_(hwy::AllocateAligned<double>(static_cast<std::size_t>(count * room_))) {
    std::fill_n(values_.get(), count * room_, 0.0);
  }
  [[nodiscard]] double* operator[](Index i) const { return values_.get() + i * room_; }

 private:
  Index room_;
  hwy::AlignedFreeUniquePtr<double[]> values_;
};

/// Dot product of the first n entries, in whole SIMD vectors.
HWY_INLINE double dot(const double* a, const double* b, Index n) {
  V total = all(0);
  for (Index j = 0; j < n; j += lanes()) total = hn::MulAdd(load(a + j), load(b + j), total);
  return sum(total);
}

struct Reflection {
  double tau, beta;
};

/// Replaces x[0 … n) by the vector u of the reflection I − τ u uᵀ that maps x to (0, …, 0, β). Its
/// last entry is 1, and entries from n to the end of the block are 0. Like LAPACK's dlarfg.
HWY_INLINE Reflection reflect(double* x, Index n) {
  const double last = x[n - 1];
  std::fill(x + n - 1, x + padded(n), 0.0);
  const double squares = dot(x, x, n);
  if (!(squares > 0)) {
    std::fill_n(x, n, 0.0);
    return {0, last};
  }
  const double beta = -std::copysign(std::sqrt(last * last + squares), last);
  const V scale = all(1 / (last - beta));
  for (Index j = 0; j < n; j += lanes()) store(hn::Mul(load(x + j), scale), x + j);
  x[n - 1] = 1;
  return {(beta - last) / beta, beta};
}

/// a − b c − d e.
HWY_INLINE V updated(V a, V b, V c, V d, V e) {
  return hn::NegMulAdd(d, e, hn::NegMulAdd(b, c, a));
}

/// x ← x − p a − q b for the first n entries, in whole SIMD vectors.
HWY_INLINE void subtract_rank_two(double* x, Index n, const double* p, V a, const double* q, V b) {
  for (Index j = 0; j < n; j += lanes()) {
    store(updated(load(x + j), load(p + j), a, load(q + j), b), x + j);
  }
}

/// Rank-two matrix v wᵀ + w vᵀ that is subtracted from a matrix.
struct RankTwo {
  double *v, *w;
};

/// y = A u for the leading n rows and columns, after `Count` changes have been subtracted from A.
/// Needs one sweep over A instead of the two of dsytrd. Only the lower triangle of A is stored;
/// blocks on the diagonal are full.
template <int Count>
HWY_INLINE void update_and_multiply(double* a, Index stride, Index n, const RankTwo* changes,
                                    const double* u, double* y) {
  std::fill_n(y, padded(n), 0.0);
  for (Index i = 0; i < n; i += kRows) {
    double* const rows = a + i * stride;
    const Index block = i / PaddedMatrix::kBlock * PaddedMatrix::kBlock;
    const OfRows ui = OfRows::load(u + i);
    OfRows vi[Count + 1], wi[Count + 1];
    V sums[kRows];
    ATTNSCOPE_UNROLL
    for (V& one : sums) one = all(0);
    ATTNSCOPE_UNROLL
    for (int c = 0; c < Count; ++c) {
      vi[c] = OfRows::load(changes[c].v + i);
      wi[c] = OfRows::load(changes[c].w + i);
    }
    // Adds to the rows' sums; returns `above` plus the rows' contribution to y from column j on.
    const auto update = [&](Index j, V above) HWY_ATTR {
      const V uj = load(u + j);
      V vj[Count + 1], wj[Count + 1];
      ATTNSCOPE_UNROLL
      for (int c = 0; c < Count; ++c) {
        vj[c] = load(changes[c].v + j);
        wj[c] = load(changes[c].w + j);
      }
      ATTNSCOPE_UNROLL
      for (Index r = 0; r < kRows; ++r) {
        double* const entry = rows + r * stride + j;
        V value = load(entry);
        ATTNSCOPE_UNROLL
        for (int c = 0; c < Count; ++c) {
          value = updated(value, vi[c].row[r], wj[c], wi[c].row[r], vj[c]);
        }
        if constexpr (Count > 0) store(value, entry);
        sums[r] = hn::MulAdd(value, uj, sums[r]);
        above = hn::MulAdd(value, ui.row[r], above);
      }
      return above;
    };
    for (Index j = 0; j < block; j += lanes()) store(update(j, load(y + j)), y + j);
    for (Index j = block; j < block + PaddedMatrix::kBlock; j += lanes()) update(j, all(0));
    add_sums(sums, y + i);
  }
  std::fill(y + n, y + padded(n), 0.0);  // completed rows and padding
}

/// Reduces from the last row to the first, so that the remaining matrix starts at the same address.
/// Every second sweep leaves the matrix unchanged and subtracts the pending change from the
/// product.
HWY_NOINLINE void tridiagonal_for_target(PaddedMatrix& matrix, TwoDiagonals& form) {
  const Index stride = matrix.stride();
  double* const a = matrix.data();
  const Vectors vectors(6, matrix.size());
  RankTwo changes[2] = {{vectors[0], vectors[1]}, {vectors[2], vectors[3]}};
  int pending = 0;  // number of changes not yet applied to the matrix
  double *u = vectors[4], *const y = vectors[5];
  for (Index k = matrix.size() - 1; k >= 0; --k) {
    const double* const row = a + k * stride;
    double diagonal = row[k];
    std::copy_n(row, k, u);
    for (int c = 0; c < pending; ++c) {
      const auto [v, w] = changes[c];
      const double vk = std::exchange(v[k], 0.0), wk = std::exchange(w[k], 0.0);
      diagonal -= 2 * vk * wk;
      subtract_rank_two(u, k, w, all(vk), v, all(wk));
    }
    form.diagonal[static_cast<std::size_t>(k)] = diagonal;
    if (k == 0) break;
    const Reflection reflection = reflect(u, k);
    const double tau = reflection.tau;
    form.off_diagonal[static_cast<std::size_t>(k - 1)] = reflection.beta;
    if (pending == 2) {
      update_and_multiply<2>(a, stride, k, changes, u, y);
      pending = 0;
    } else {
      update_and_multiply<0>(a, stride, k, changes, u, y);
      if (pending == 1) {
        const auto [v, w] = changes[0];
        subtract_rank_two(y, k, v, all(dot(w, u, k)), w, all(dot(v, u, k)));
      }
    }
    const V share = all(0.5 * tau * tau * dot(y, u, k));
    RankTwo& change = changes[pending++];
    for (Index j = 0; j < k; j += lanes()) {
      store(hn::NegMulAdd(share, load(u + j), hn::Mul(all(tau), load(y + j))), change.w + j);
    }
    std::swap(u, change.v);
  }
}

/// z = Aᵀ u for `rows` rows and n columns, after l yᵀ + x vᵀ has been subtracted from A; `last`
/// becomes column n − 1 of A.
HWY_INLINE void update_and_multiply_transposed(double* a, Index stride, Index rows, Index n,
                                               const double* l, const double* y, const double* x,
                                               const double* v, const double* u, double* z,
                                               double* last) {
  std::fill_n(z, padded(n), 0.0);
  for (Index i = 0; i < rows; i += kRows) {
    double* const first = a + i * stride;
    const OfRows li = OfRows::load(l + i), xi = OfRows::load(x + i), ui = OfRows::load(u + i);
    for (Index j = 0; j < n; j += lanes()) {
      const V yj = load(y + j), vj = load(v + j);
      V zj = load(z + j);
      ATTNSCOPE_UNROLL
      for (Index r = 0; r < kRows; ++r) {
        double* const entry = first + r * stride + j;
        const V value = updated(load(entry), li.row[r], yj, xi.row[r], vj);
        store(value, entry);
        zj = hn::MulAdd(value, ui.row[r], zj);
      }
      store(zj, z + j);
    }
    for (Index r = 0; r < kRows; ++r) last[i + r] = first[r * stride + n - 1];
  }
  std::fill(z + n, z + padded(n), 0.0);
}

/// x = A v for the leading n rows and columns.
HWY_INLINE void multiply(const double* a, Index stride, Index n, const double* v, double* x) {
  for (Index i = 0; i < n; i += kRows) {
    const double* const first = a + i * stride;
    V sums[kRows];
    ATTNSCOPE_UNROLL
    for (V& one : sums) one = all(0);
    for (Index j = 0; j < n; j += lanes()) {
      const V vj = load(v + j);
      ATTNSCOPE_UNROLL
      for (Index r = 0; r < kRows; ++r) {
        sums[r] = hn::MulAdd(load(first + r * stride + j), vj, sums[r]);
      }
    }
    std::fill_n(x + i, kRows, 0.0);
    add_sums(sums, x + i);
  }
  std::fill(x + n, x + padded(n), 0.0);
}

/// Reduces from the last column and row to the first: the result is lower bidiagonal.
HWY_NOINLINE void bidiagonal_for_target(PaddedMatrix& matrix, TwoDiagonals& form) {
  const Index stride = matrix.stride();
  double* const a = matrix.data();
  const Vectors vectors(8, matrix.size());
  // The current matrix is A − l yᵀ − x vᵀ.
  double *l = vectors[0], *const y = vectors[1], *const x = vectors[2], *v = vectors[3];
  double *u = vectors[4], *r = vectors[5], *const z = vectors[6], *const column = vectors[7];
  for (Index i = 0; i < matrix.size(); ++i) column[i] = a[i * stride + matrix.size() - 1];
  for (Index k = matrix.size() - 1; k >= 0; --k) {
    const V yk = all(std::exchange(y[k], 0.0)), vk = all(std::exchange(v[k], 0.0));
    for (Index i = 0; i <= k; i += lanes()) {
      store(updated(load(column + i), load(l + i), yk, load(x + i), vk), u + i);
    }
    const Reflection left = reflect(u, k + 1);
    form.diagonal[static_cast<std::size_t>(k)] = left.beta;
    if (k == 0) break;
    update_and_multiply_transposed(a, stride, k + 1, k, l, y, x, v, u, z, column);
    for (Index j = 0; j < k; j += lanes()) {
      const V yj = hn::Mul(all(left.tau), load(z + j));
      store(yj, y + j);
      store(hn::Sub(load(a + k * stride + j), hn::Mul(all(u[k]), yj)), r + j);
    }
    const Reflection right = reflect(r, k);
    form.off_diagonal[static_cast<std::size_t>(k - 1)] = right.beta;
    const V share = all(dot(y, r, k));
    u[k] = 0;  // row k is complete
    multiply(a, stride, k, r, x);
    for (Index i = 0; i < k; i += lanes()) {
      store(hn::Mul(all(right.tau), hn::NegMulAdd(load(u + i), share, load(x + i))), x + i);
    }
    std::swap(u, l);
    std::swap(r, v);
  }
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(tridiagonal_for_target);
HWY_EXPORT(bidiagonal_for_target);

namespace {

TwoDiagonals with_room(Eigen::Index size) {
  const auto count = static_cast<std::size_t>(size);
  return {std::vector<double>(count), std::vector<double>(count - 1)};
}

}  // namespace

PaddedMatrix::PaddedMatrix(Eigen::Index size)
    : size_(size),
      // Rows at distances of a power of two would share few sets of the L1 cache.
      stride_(padded(size) + (padded(size) % 64 == 0 ? kBlock : 0)),
      entries_(hwy::AllocateAligned<double>(static_cast<std::size_t>(padded(size) * stride_))) {
  std::fill_n(entries_.get(), padded(size) * stride_, 0.0);
}

TwoDiagonals tridiagonal_form(PaddedMatrix& matrix) {
  constexpr Eigen::Index kBlock = PaddedMatrix::kBlock;
  auto entries = matrix.matrix();
  for (Eigen::Index first = 0; first < matrix.size(); first += kBlock) {
    const Eigen::Index end = std::min(first + kBlock, matrix.size());
    for (Eigen::Index i = first; i < end; ++i) {
      for (Eigen::Index j = first; j < i; ++j) entries(j, i) = entries(i, j);
    }
  }
  TwoDiagonals form = with_room(matrix.size());
  HWY_DYNAMIC_DISPATCH(tridiagonal_for_target)(matrix, form);
  return form;
}

TwoDiagonals bidiagonal_form(PaddedMatrix& matrix) {
  TwoDiagonals form = with_room(matrix.size());
  HWY_DYNAMIC_DISPATCH(bidiagonal_for_target)(matrix, form);
  return form;
}

}  // namespace attnscope
#endif
