// What a model is made of, as a tree: layers, parts, tensors, and what was assumed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/architecture/architecture.h"

namespace attnscope {

struct StructureNode {
  std::string title = {};    ///< "Layer 3", "MLP", "query.weight"
  std::string tensor = {};   ///< in the file; empty of what is no tensor
  std::string shape = {};    ///< "[192, 192]" as stored; "× 12" with several pieces
  std::string type = {};     ///< "float32"
  std::string note = {};     ///< a reason, or what the part is
  std::int64_t numbers = 0;  ///< elements of all tensors in it
  std::vector<StructureNode> children = {};
};

/// The whole model: assumptions, what makes tokens, layers with their parts, the read-out, tensors
/// without a role. `first_layer`: what the first layer is called. Without an architecture the
/// tensors alone, those of all layers in one line.
[[nodiscard]] StructureNode structure_of(const Checkpoint& checkpoint,
                                         const Architecture* architecture,
                                         std::int64_t first_layer = 0);

/// "5.7 million", "124,439": a count as one reads it.
[[nodiscard]] std::string count_in_words(std::int64_t numbers);

}  // namespace attnscope
