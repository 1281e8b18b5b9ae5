// The part of a GGUF file before its data: keys and values, and where each tensor lies.
// Specification: ggml, docs/gguf.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/checkpoint/key_values.h"
#include "core/file/mapped_file.h"
#include "core/tensor/tensor_view.h"

namespace attnscope {

struct GgufTensor {
  std::string name;
  DType dtype = DType::f32;
  const BlockLayout* blocks = nullptr;  ///< of dtype quantised
  Shape shape;                          ///< slowest axis first; the file has the fastest first
  std::int64_t bytes = 0;
  std::uint64_t offset = 0;  ///< from the start of the file; offset + bytes lies inside
};

struct GgufHeader {
  std::shared_ptr<const KeyValues> keys;
  std::vector<GgufTensor> tensors;  ///< in the file's order
};

/// Throws Error(damaged): anything that is cut off, does not lie in the file, overlaps, or stands
/// twice. Throws Error(unsupported): big-endian files, version 1 and GGUF's predecessors, and
/// element types without a known size.
[[nodiscard]] GgufHeader read_gguf_header(const std::shared_ptr<const MappedFile>& file);

}  // namespace attnscope
