// Matrix products with stored weights: half precision or quantised, in a mapped file.
#pragma once

#include "core/tensor/tensor.h"
#include "core/tensor/tensor_view.h"

namespace attnscope {

/// out = x Wᵀ. x [m, k]; weights [n, k] (leading axes joined) of any element type; out [m, n]; rows
/// of x and out may be strided. The weights are converted to float32 tile by tile on all cores,
/// with one tile of scratch memory per core. The result does not depend on the number of cores.
/// Throws like TensorView::rows_to_float.
void multiply_transposed(ConstStridedMatrixMap x, const TensorView& weights, StridedMatrixMap out);

}  // namespace attnscope
