// Adder linear layer: negated L1 distances instead of products.
#pragma once

#include <span>

#include "core/attention/kernels/l1_distance.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// y(n, o) = −Σ_i |x(n, i) − W(o, i)| + b(o) (Adder, Eq. 4, 5). x [N, in], weights [out, in] packed
/// once per model, bias [out] or empty; returns [N, out]. Rows run in parallel; the result does not
/// depend on the thread count. Throws Error(usage) if the widths do not fit.
[[nodiscard]] Tensor adder_linear(const ConstStridedMatrixMap& x, const PackedRows& weights,
                                  std::span<const float> bias = {});

}  // namespace attnscope
