// Block-quantised storage: a row is divided into blocks of 32 or 256 elements, and each block holds
// small integers (codes) and the scales that turn them into numbers. The layouts are ggml's, as
// used in GGUF files (ggml-quants.c, "reference dequantisation"), and small floating-point numbers
// without scales, which a file stores apart (StoredFactors).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/tensor/shape.h"

namespace attnscope {

inline constexpr std::uint32_t kNoGgmlType = 0xFFFFFFFF;

/// Memory layout of a kind of block. Each kind has exactly one object, so pointers identify kinds.
struct BlockLayout {
  std::uint32_t ggml_type;  ///< type number in GGUF files; kNoGgmlType in others
  std::string_view name;    ///< "Q4_K"
  std::int64_t elements;    ///< elements per block, consecutive in a row
  std::int64_t bytes;       ///< bytes per block
  bool readable;            ///< false: only name and size are known, and `dequantise` refuses it
};

// The formats of the Open Compute Project (OCP Microscaling Formats 1.0): pairs of E2M1 in a byte,
// the first in its low half; E4M3 without infinities, readable with its factors; powers of 2 from
// 2^−127 to 2^127.
inline constexpr BlockLayout kMxfp4{kNoGgmlType, "MXFP4", 2, 1, true};
inline constexpr BlockLayout kFloat8{kNoGgmlType, "F8_E4M3", 1, 1, false};
inline constexpr BlockLayout kTiledFloat8{kNoGgmlType, "F8_E4M3 in tiles", 1, 1, true};
inline constexpr BlockLayout kPowers{kNoGgmlType, "F8_E8M0", 1, 1, true};

/// The layout with this number; null if unknown.
[[nodiscard]] const BlockLayout* block_layout(std::uint32_t ggml_type);

/// Bytes of a tensor of this shape. Throws Error(damaged) if rows are not whole blocks or the
/// number exceeds 2^62.
[[nodiscard]] std::int64_t byte_count(const Shape& shape, const BlockLayout& layout);

/// Throws Error(unsupported) naming the layout unless it is readable.
void check_readable(const BlockLayout& layout);

/// Decodes `count` consecutive blocks into `out` [count × layout.elements]. The values are the same
/// on every processor: each product of scale and code is exact in float32 or rounded once, as in
/// ggml's reference. Throws like check_readable.
void dequantise(const BlockLayout& layout, const std::byte* blocks, std::int64_t count, float* out);

/// The products of x with each of `count` rows of `per_row` blocks, [count], without decoding the
/// rows to memory. They differ from those of decoded rows by rounding in float32 only. Throws like
/// check_readable.
void multiply_rows(const BlockLayout& layout, const std::byte* rows, std::int64_t count,
                   std::int64_t per_row, const float* x, float* out);

}  // namespace attnscope
