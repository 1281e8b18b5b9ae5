// The gradient of L1 distances, with SIMD chosen at run time for the CPU.
#pragma once

#include <string_view>

#include "core/attention/kernels/l1_distance.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

/// The function used as the derivative of |x|.
enum class DifferenceGradient {
  sign,       ///< sign(x), 0 at 0: the exact derivative (Adder, Eq. 23)
  hard_tanh,  ///< x clamped to [−1, 1] (Adder, Eq. 6)
  full        ///< x itself, "full precision" (Adder, Eq. 5; AdderNet)
};
inline constexpr EnumName<DifferenceGradient> difference_gradient_names[] = {
    {DifferenceGradient::sign, "sign"},
    {DifferenceGradient::hard_tanh, "hard_tanh"},
    {DifferenceGradient::full, "full"}};

/// Gradients of distances D(i, j) = Σ_c |a(i, c) − b(j, c)|, given their gradient g(i, j), with f
/// chosen by `form`: da(i, c) += Σ_j g(i, j) f(a(i, c) − b(j, c)) and db += Σ_i g(i, j) f(b(j, c) −
/// a(i, c)). db has the layout and size of the packed b; it may be null. Shapes: a [m, k], b [n,
/// k], da [m, k], g [m, at most n] for the first rows of b. Rows may be strided. Sums run in a
/// fixed order.
void add_difference_gradients(const ConstStridedMatrixMap& a, const PackedRows& b,
                              const ConstStridedMatrixMap& g, DifferenceGradient form,
                              StridedMatrixMap da, float* db);

/// Number of floats in a packed matrix of `rows` rows and `columns` columns.
[[nodiscard]] std::int64_t packed_size(std::int64_t rows, std::int64_t columns);

/// Adds the rows stored in `packed`, in the layout of PackedRows, to `out` [rows, columns]. Rows
/// may be strided.
void add_unpacked(const float* packed, StridedMatrixMap out);

}  // namespace attnscope
