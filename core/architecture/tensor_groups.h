// Tensors of a file before they have roles: groups as a description names them, one for the tensors
// of all layers, and tables that are recognised by their values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

struct TensorGroup {
  std::string pattern;     ///< pattern such as "blocks.{layer}.attn.qkv.weight"; {head} if per head
  Shape shape;             ///< shape of each tensor
  std::string type;        ///< dtype: "float32"
  std::int64_t count = 1;  ///< number of tensors
  bool alike = true;       ///< true if all have that shape

  /// Part of the pattern after "{layer}."; the whole pattern outside layers.
  [[nodiscard]] std::string tail() const;
  [[nodiscard]] bool of_layers() const { return pattern.find("{layer}") != std::string::npos; }
};

/// Groups in the order of the file. Layers are numbered from 0 without gaps, at least up to 1,
/// after the same text; the first and the last have the same three or more tensors.
[[nodiscard]] std::vector<TensorGroup> group_tensors(const Checkpoint& checkpoint);

/// True if each row of a mask [.., T, T] has one value for its token and those before it, with a
/// window for the last `window` of these, and another value for all other tokens. Of more than 512
/// rows only some are read.
[[nodiscard]] bool is_causal_mask(const StoredTensor& mask, std::int64_t window = 0);

/// True if a table [.., T, D] begins with sines and cosines of 0, in any order.
[[nodiscard]] bool holds_sinusoids(const StoredTensor& table);

}  // namespace attnscope
