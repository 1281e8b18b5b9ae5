// GELU by SIMD, as right as float32 can say it.
#pragma once

#include <cstdint>

namespace attnscope {

/// x = x Φ(x) = x (1 + erf(x / √2)) / 2 (Hendrycks & Gimpel 2016), computed in double: to the
/// rounding of float32; 0 below −5.66. NaN stays NaN.
void gelu(float* x, std::int64_t count);

}  // namespace attnscope
