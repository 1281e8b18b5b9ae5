// Changes the softmax temperature of a row of weights.
#pragma once

#include <span>

namespace attnscope {

/// Raises the magnitude of every weight to the power 1/T, keeps its sign, and rescales so that the
/// sum of magnitudes is unchanged. 0, NaN and Inf are unchanged; NaN and Inf do not affect the
/// other weights. A softmax becomes the softmax of the scores divided by T. `temperature` > 0.
void temper_row(std::span<float> values, double temperature);

}  // namespace attnscope
