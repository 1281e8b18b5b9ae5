// GELU and its derivative, with SIMD chosen at run time for the CPU.
#pragma once

#include <cstdint>

namespace attnscope {

/// out[i] = x[i] Φ(x[i]), with Φ from the erf of Abramowitz & Stegun 7.1.26. Error: at most 2·10⁻⁷
/// |x|.
void gelu(const float* x, std::int64_t count, float* out);

/// gradient[i] *= Φ(x[i]) + x[i] φ(x[i]), the derivative of x Φ(x).
void multiply_by_gelu_derivative(const float* x, std::int64_t count, float* gradient);

/// The tanh form of GELU, x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))), and its derivative.
void gelu_tanh(const float* x, std::int64_t count, float* out);
void multiply_by_gelu_tanh_derivative(const float* x, std::int64_t count, float* gradient);

}  // namespace attnscope
