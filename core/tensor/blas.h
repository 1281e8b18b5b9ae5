// Dense matrix products by OpenBLAS on one thread. The program parallelises over heads, maps and
// images instead, and large products over blocks of rows.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// Sets OpenBLAS and its LAPACK to one thread and to kernels that suit the processor
/// (core/platform/openblas.h). Only the first call does so. Code that calls either library directly
/// must call this first, as the products below do. Throws Error(io) if there is no memory for a
/// thread's work space, since OpenBLAS would wait forever.
void use_one_blas_thread();

/// out = scale · a bᵀ (+ out if `accumulate`). a [m, k], b [n, k], out [m, n]; rows may be strided.
void multiply_transposed(ConstStridedMatrixMap a, ConstStridedMatrixMap b, float scale,
                         StridedMatrixMap out, bool accumulate = false);

/// out = scale · a b (+ out if `accumulate`). a [m, k], b [k, n], out [m, n]; rows may be strided.
void multiply(ConstStridedMatrixMap a, ConstStridedMatrixMap b, float scale, StridedMatrixMap out,
              bool accumulate = false);

/// a b in double, or a bᵀ. Blocks of rows run in parallel; the result does not depend on the number
/// of threads.
[[nodiscard]] MatrixD dense_product(const MatrixD& a, const MatrixD& b);
[[nodiscard]] MatrixD dense_product_transposed(const MatrixD& a, const MatrixD& b);

}  // namespace attnscope
