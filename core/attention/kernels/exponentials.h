// exp of many numbers at once, by SIMD chosen at run time for the CPU.
#pragma once

#include <cstdint>

namespace attnscope {

/// values[i] = exp(values[i] − shift). NaN stays NaN.
void exponentiate(float* values, std::int64_t count, float shift);

/// out[i] = exp(values[i] − shifts[i]). NaN in either gives NaN.
void exponentiate(const float* values, const float* shifts, std::int64_t count, float* out);

}  // namespace attnscope
