// Softmax over the rows of a matrix, in place, by SIMD chosen at run time for the CPU.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// scores(i, j) = exp(scores(i, j) − max_j) / Σ_j exp(scores(i, j) − max_j). Rows may be strided.
/// −inf becomes 0. A row that holds NaN or +inf, or nothing but −inf, becomes NaN.
void softmax_rows(StridedMatrixMap scores);

}  // namespace attnscope
