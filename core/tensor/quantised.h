// Block-quantised storage: a row is cut into blocks of 32 or 256 elements, and each block holds
// small integers (codes) beside the scales that turn them into numbers. The layouts are ggml's, as
// GGUF files have them (ggml-quants.c, "reference dequantisation").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/tensor/shape.h"

namespace attnscope {

/// How one kind of block lies in memory. There is one object of each kind: pointers tell them
/// apart.
struct BlockLayout {
  std::uint32_t ggml_type;  ///< its number in GGUF files
  std::string_view name;    ///< "Q4_K"
  std::int64_t elements;    ///< in one block, consecutive in a row
  std::int64_t bytes;       ///< of one block
  bool readable;            ///< false: known by name and size only; `dequantise` refuses it
};

/// All that are known, one line each.
[[nodiscard]] std::span<const BlockLayout> block_layouts();
/// Null for a number that no layout has.
[[nodiscard]] const BlockLayout* block_layout(std::uint32_t ggml_type);

/// Bytes of a tensor of this shape. Throws Error(damaged) if the rows are not whole blocks, or the
/// number passes 2^62.
[[nodiscard]] std::int64_t byte_count(const Shape& shape, const BlockLayout& layout);

/// Throws Error(unsupported) naming the layout unless it is readable.
void check_readable(const BlockLayout& layout);

/// The elements of `count` consecutive blocks; `out` has room for count × layout.elements. The same
/// values on every processor: each product of scale and code is exact in float32 or rounded once,
/// as in ggml's reference. Throws as check_readable.
void dequantise(const BlockLayout& layout, const std::byte* blocks, std::int64_t count, float* out);

}  // namespace attnscope
