// A row of weights at another temperature.
#pragma once

#include <span>

namespace attnscope {

/// Every weight to the power 1/T with its sign, scaled so that the magnitudes keep their sum. 0
/// stays 0; NaN and Inf stay what they are and take no part: the rest is still tempered. Of a
/// softmax it is the softmax of scores divided by T. temperature > 0.
void temper_row(std::span<float> values, double temperature);

}  // namespace attnscope
