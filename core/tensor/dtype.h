// Element types of stored tensors.
#pragma once

#include <cstddef>
#include <string_view>

namespace attnscope {

enum class DType { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

/// Bytes of one element.
[[nodiscard]] std::size_t size_of(DType dtype);

/// "float32", "bfloat16", … as NumPy and PyTorch write them.
[[nodiscard]] std::string_view name_of(DType dtype);

/// True for f64, f32, f16 and bf16: the types that can hold NaN and Inf.
[[nodiscard]] bool is_floating(DType dtype);

}  // namespace attnscope
