// Value zeroing (Mohebbi et al. 2023): change of a layer's tokens without the values of one token.
#pragma once

#include <cstdint>

#include "core/model/subject.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Z_ij = 1 − cos(x̃_i, x̃_i^{v_j = 0}) [N, M], with x̃ the layer's tokens after attention and MLP;
/// rows divided by their sums if `normalised` (rows of zeros stay). Values are zeroed in all heads
/// at once, the layer's input stays. Needs the model and its input's trace with tokens; runs the
/// layer M times. Throws Error(usage) if they are missing, or for layers without self-attention;
/// Cancelled.
[[nodiscard]] MatrixD value_zeroing(const Subject& subject, std::int64_t layer,
                                    bool normalised = true, const Progress& progress = {});

}  // namespace attnscope
