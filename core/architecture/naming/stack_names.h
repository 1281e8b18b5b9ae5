// Stacks of blocks of a model that matches no family.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/naming/block_names.h"

namespace attnscope {

/// Stack of blocks, and optionally a decoder's stack that also attends to it: roles "decoder.",
/// "cross.".
struct StackNames {
  BlockNames body;
  std::optional<BlockNames> decoder;
};

/// Finds the stacks. A stack that is neither is reported in `body.unexplained`.
[[nodiscard]] StackNames read_stack_names(const std::vector<const StoredTensor*>& tensors);

}  // namespace attnscope
