// Tree of a model: layers, parts, tensors, and assumptions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/architecture/architecture.h"

namespace attnscope {

struct StructureNode {
  std::string title = {};    ///< "Layer 3", "MLP", "query.weight"
  std::string tensor = {};   ///< name in the file; empty if this is not a tensor
  std::string shape = {};    ///< "[192, 192]" as stored; "× 12" with several pieces
  std::string type = {};     ///< dtype: "float32"
  std::string note = {};     ///< reason or description
  std::int64_t numbers = 0;  ///< number of elements of all its tensors
  std::vector<StructureNode> children = {};
};

/// Tree of the whole model: assumptions, embedding, layers with their parts, read-out, tensors
/// without a role. `first_layer` is the number shown for the first layer. Without an architecture
/// only the tensors, with one line for those of all layers.
[[nodiscard]] StructureNode structure_of(const Checkpoint& checkpoint,
                                         const Architecture* architecture,
                                         std::int64_t first_layer = 0);

/// Count in words: "5.7 million", "124,439".
[[nodiscard]] std::string count_in_words(std::int64_t numbers);

}  // namespace attnscope
