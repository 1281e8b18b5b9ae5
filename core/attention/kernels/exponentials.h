// exp and σ of many numbers at once, by SIMD chosen at run time for the CPU: right for every float.
#pragma once

#include <cstdint>

namespace attnscope {

/// values[i] = exp(values[i] − shift), ∞ above ln of the largest float. NaN stays NaN.
void exponentiate(float* values, std::int64_t count, float shift);

/// out[i] = exp(values[i] − shifts[i]). NaN in either gives NaN.
void exponentiate(const float* values, const float* shifts, std::int64_t count, float* out);

/// values[i] = exp(values[i] − the largest of them), which is returned. NaN stays NaN, and may then
/// be the largest; without values it is −∞.
float exponentiate_below_largest(float* values, std::int64_t count);

/// out[i] = 1 / (1 + exp(−x[i])), in [0, 1]. NaN stays NaN.
void sigmoid(const float* x, std::int64_t count, float* out);

}  // namespace attnscope
