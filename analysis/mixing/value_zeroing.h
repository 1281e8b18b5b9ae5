// Value zeroing (Mohebbi et al. 2023): what changes in a layer's tokens when one token's values are
// nothing.
#pragma once

#include <cstdint>

#include "core/model/subject.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Z_ij = 1 − cos(x̃_i, x̃_i^{v_j = 0}) [N, M], x̃ the layer's tokens after attention and MLP; rows
/// divided by their sums if `normalised` (rows of zeros stay). In all heads at once, the layer's
/// input as it was. Needs the model, its input's trace with tokens; runs the layer M times. Throws
/// Error(usage) for what they lack and for layers of other tokens than those before; Cancelled.
[[nodiscard]] MatrixD value_zeroing(const Subject& subject, std::int64_t layer,
                                    bool normalised = true, const Progress& progress = {});

}  // namespace attnscope
