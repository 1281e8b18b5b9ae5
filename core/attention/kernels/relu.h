// ReLU of a single number.
#pragma once

namespace attnscope {

/// max(x, 0). NaN stays NaN, whereas std::max and Eigen's cwiseMax may turn it into 0.
[[nodiscard]] inline float relu(float x) { return x < 0 ? 0.0F : x; }

}  // namespace attnscope
