// Vectorised GELU, accurate to float32 rounding.
#pragma once

#include <cstdint>

namespace attnscope {

/// x = x Φ(x) = x (1 + erf(x / √2)) / 2 (Hendrycks & Gimpel 2016), computed in double and accurate
/// to float32 rounding; 0 below −5.66. NaN stays NaN.
void gelu(float* x, std::int64_t count);

}  // namespace attnscope
