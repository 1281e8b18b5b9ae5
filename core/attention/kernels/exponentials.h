// Vectorised exp and σ, correct for every number, with the instruction set chosen at run time; and
// ReLU.
#pragma once

#include <cstdint>

namespace attnscope {

/// values[i] = exp(values[i] − shift); ∞ if the exponent exceeds ln of the largest float. NaN stays
/// NaN.
void exponentiate(float* values, std::int64_t count, float shift);

/// values[i] = exp(values[i]); ∞ if that exceeds the largest double. NaN stays NaN.
void exponentiate(double* values, std::int64_t count);

/// out[i] = exp(values[i] − shifts[i]). NaN in either gives NaN.
void exponentiate(const float* values, const float* shifts, std::int64_t count, float* out);

/// values[i] = exp(values[i] − largest). Returns the largest value, −∞ if `count` is 0. NaN stays
/// NaN, and the largest value may then be NaN.
float exponentiate_below_largest(float* values, std::int64_t count);

/// out[i] = 1 / (1 + exp(−x[i])), in [0, 1]. NaN stays NaN.
void sigmoid(const float* x, std::int64_t count, float* out);

/// ReLU of a single number, max(x, 0). NaN stays NaN, whereas std::max and Eigen's cwiseMax may
/// turn it into 0.
[[nodiscard]] inline float relu(float x) { return x < 0 ? 0.0F : x; }

}  // namespace attnscope
