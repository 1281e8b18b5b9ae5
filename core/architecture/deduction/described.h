// A file held against a description that need not lie in a file.
#pragma once

#include "core/architecture/architecture.h"

namespace attnscope {

/// As recognise_architecture with `options.description`, which is not read. Throws as it does.
[[nodiscard]] Architecture architecture_described(const ArchitectureDescription& description,
                                                  const Checkpoint& checkpoint,
                                                  const ModelOptions& options = {});

}  // namespace attnscope
