// GELU and its derivative, by SIMD chosen at run time for the CPU.
#pragma once

#include <cstdint>

namespace attnscope {

/// out[i] = x[i] Φ(x[i]), with Φ by erf after Abramowitz & Stegun 7.1.26: right to 2·10⁻⁷ |x|.
void gelu(const float* x, std::int64_t count, float* out);

/// gradient[i] *= Φ(x[i]) + x[i] φ(x[i]): the derivative of x Φ(x).
void multiply_by_gelu_derivative(const float* x, std::int64_t count, float* gradient);

/// The same of the tanh form, x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))).
void gelu_tanh(const float* x, std::int64_t count, float* out);
void multiply_by_gelu_tanh_derivative(const float* x, std::int64_t count, float* gradient);

}  // namespace attnscope
