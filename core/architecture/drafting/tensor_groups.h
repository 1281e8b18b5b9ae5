// The tensors of a file as a description names them: one line for those of all layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

struct TensorGroup {
  std::string pattern;     ///< "blocks.{layer}.attn.qkv.weight"; with {head} of one tensor a head
  Shape shape;             ///< of each
  std::string type;        ///< "float32"
  std::int64_t count = 1;  ///< tensors
  bool alike = true;       ///< all have that shape

  /// What stands behind "{layer}."; the whole pattern of what is not of a layer.
  [[nodiscard]] std::string tail() const;
  [[nodiscard]] bool of_layers() const { return pattern.find("{layer}") != std::string::npos; }
};

/// In the order of the file. Layers are told by a number after the same text in at least two names,
/// counted from 0 without a gap.
[[nodiscard]] std::vector<TensorGroup> group_tensors(const Checkpoint& checkpoint);

}  // namespace attnscope
