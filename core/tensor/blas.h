// Dense products by OpenBLAS on one thread: parallelism is ours, over heads, maps and images.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// Sets OpenBLAS and its LAPACK to one thread and to kernels that use the processor
/// (blas_kernels.h), once; cheap to call again. Everything that calls either directly calls this
/// first, as the products below do. Throws Error(io) where a thread's work space has no memory:
/// they would wait for ever.
void use_one_blas_thread();

/// out = scale · a bᵀ (+ out if `accumulate`). a [m, k], b [n, k], out [m, n]; rows may be strided.
void multiply_transposed(ConstStridedMatrixMap a, ConstStridedMatrixMap b, float scale,
                         StridedMatrixMap out, bool accumulate = false);

/// out = scale · a b (+ out if `accumulate`). a [m, k], b [k, n], out [m, n]; rows may be strided.
void multiply(ConstStridedMatrixMap a, ConstStridedMatrixMap b, float scale, StridedMatrixMap out,
              bool accumulate = false);

}  // namespace attnscope
