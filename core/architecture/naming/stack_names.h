// Which stacks of blocks a model that no family names has.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/naming/block_names.h"

namespace attnscope {

/// A model's stack of blocks, and a decoder's, whose blocks ask it too: roles "decoder.", "cross.".
struct StackNames {
  BlockNames body;
  std::optional<BlockNames> decoder;
};

/// A stack that is neither is `body.unexplained`.
[[nodiscard]] StackNames read_stack_names(const std::vector<const StoredTensor*>& tensors);

}  // namespace attnscope
