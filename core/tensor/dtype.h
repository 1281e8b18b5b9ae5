// Element types of stored tensors.
#pragma once

#include <cstddef>
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

}  // namespace attnscope
