// max(x, 0) for one number.
#pragma once

namespace attnscope {

/// NaN stays NaN, which std::max and Eigen's cwiseMax may take for 0.
[[nodiscard]] inline float relu(float x) { return x < 0 ? 0.0F : x; }

}  // namespace attnscope
