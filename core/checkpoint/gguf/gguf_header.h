// Header of a GGUF file: keys and values, and the position of each tensor. Specification: ggml,
// docs/gguf.md.
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
  const BlockLayout* blocks = nullptr;  ///< layout of dtype quantised, else null
  Shape shape;                          ///< slowest axis first; the file has the fastest first
  std::int64_t bytes = 0;
  std::uint64_t offset = 0;  ///< file offset; offset + bytes is inside the file
};

struct GgufHeader {
  std::shared_ptr<const KeyValues> keys;
  std::vector<GgufTensor> tensors;  ///< in the file's order
};

/// Reads the header. Throws Error(damaged) for data that is truncated, outside the file,
/// overlapping or duplicate, and Error(unsupported) for big-endian files, version 1, GGUF's
/// predecessors and element types of unknown size.
[[nodiscard]] GgufHeader read_gguf_header(const std::shared_ptr<const MappedFile>& file);

}  // namespace attnscope
