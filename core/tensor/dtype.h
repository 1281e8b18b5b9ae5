// Element types of stored tensors, and the exact conversion of 16-bit floating-point numbers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attnscope {

/// Element type. Elements of `quantised` share bytes in blocks (core/tensor/quantised.h).
enum class DType { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean, quantised };

/// Bytes per element. Throws Error(unsupported) for `quantised`.
[[nodiscard]] std::size_t size_of(DType dtype);

/// Name as in NumPy and PyTorch: "float32", "bfloat16", ….
[[nodiscard]] std::string_view name_of(DType dtype);

/// True for f64, f32, f16 and bf16: the plain types that can hold NaN and Inf.
[[nodiscard]] bool is_floating(DType dtype);

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
