// Softmax over the rows of a matrix, in place. The instruction set is chosen at run time.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// scores(i, j) = exp(scores(i, j) − max_j) / Σ_j exp(scores(i, j) − max_j). Rows may be strided.
/// −inf becomes 0. A row that holds NaN or +inf, or only −inf, becomes NaN.
void softmax_rows(StridedMatrixMap scores);

}  // namespace attnscope
