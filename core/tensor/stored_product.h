// Products with weights as they are stored: half precision or quantised, in a mapped file.
#pragma once

#include "core/tensor/tensor.h"
#include "core/tensor/tensor_view.h"

namespace attnscope {

/// out = x Wᵀ. x [m, k]; weights [n, k] (leading axes joined) of any element type; out [m, n]; rows
/// of x and out may be strided. The weights are turned into float32 a tile at a time, on all cores,
/// so that they need no memory but one tile a core; the result does not depend on the number of
/// cores. Throws as TensorView::rows_to_float.
void multiply_transposed(ConstStridedMatrixMap x, const TensorView& weights, StridedMatrixMap out);

}  // namespace attnscope
