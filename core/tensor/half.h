// Exact conversion of stored 16-bit floating-point numbers to float32.
#pragma once

#include <bit>
#include <cstdint>

namespace attnscope {

/// Converts IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
[[nodiscard]] inline float from_half(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {  // zero and subnormals: fraction · 2^-24, exact in float32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t rebased = exponent == 31 ? 255U : exponent + 112U;
  return std::bit_cast<float>(sign | (rebased << 23) | (fraction << 13));
}

/// Converts bfloat16, the upper half of a float32.
[[nodiscard]] inline float from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace attnscope
