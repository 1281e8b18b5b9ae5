// The gradient of L1 distances, by SIMD chosen at run time for the CPU.
#pragma once

#include <string_view>

#include "core/attention/kernels/l1_distance.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

/// What stands for the derivative of |x|.
enum class DifferenceGradient {
  sign,       ///< sign(x), 0 at 0: the exact one (Adder, Eq. 23)
  hard_tanh,  ///< x held within [−1, 1] (Adder, Eq. 6)
  full        ///< x itself, "full precision" (Adder, Eq. 5; AdderNet)
};
inline constexpr EnumName<DifferenceGradient> difference_gradient_names[] = {
    {DifferenceGradient::sign, "sign"},
    {DifferenceGradient::hard_tanh, "hard_tanh"},
    {DifferenceGradient::full, "full"}};

/// Of distances D(i, j) = Σ_c |a(i, c) − b(j, c)| and their gradient g(i, j), with f of `form`:
/// da(i, c) += Σ_j g(i, j) f(a(i, c) − b(j, c)); db, laid out as b is packed (of as many floats),
/// += Σ_i g(i, j) f(b(j, c) − a(i, c)), or nothing where it is null. a [m, k], b [n, k], g [m, at
/// most n], the first of b's rows where there are fewer; da [m, k]; rows may be strided. Sums run
/// in a fixed order.
void add_difference_gradients(const ConstStridedMatrixMap& a, const PackedRows& b,
                              const ConstStridedMatrixMap& g, DifferenceGradient form,
                              StridedMatrixMap da, float* db);

/// Floats that a packed matrix of `rows` rows and `columns` columns takes.
[[nodiscard]] std::int64_t packed_size(std::int64_t rows, std::int64_t columns);

/// out += what lies in `packed` as PackedRows lays rows out. out [rows, columns], rows may be
/// strided.
void add_unpacked(const float* packed, StridedMatrixMap out);

}  // namespace attnscope
