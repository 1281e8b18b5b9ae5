// Products of large matrices in double, by OpenBLAS.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

/// a · b. Blocks of rows run in parallel; the result does not depend on the number of threads.
[[nodiscard]] MatrixD dense_product(const MatrixD& a, const MatrixD& b);

}  // namespace attnscope
