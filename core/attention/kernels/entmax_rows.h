// α-entmax over the rows of a matrix, in place. The instruction set is chosen at run time.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// scores(i, j) = max(scores(i, j) / power − τ_i, 0)^power with the τ_i for which row i sums to 1.
/// `power` is 1 / (α − 1): 1 is sparsemax (Martins and Astudillo 2016), 2 is 1.5-entmax (Peters et
/// al. 2019). Rows may be strided. −inf becomes 0. A row that holds NaN or +inf, or only −inf,
/// becomes NaN.
void entmax_rows(StridedMatrixMap scores, int power);

}  // namespace attnscope
