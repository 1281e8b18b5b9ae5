// Matches a weight file against a description that is given in memory.
#pragma once

#include "core/architecture/architecture.h"

namespace attnscope {

/// Like recognise_architecture, but takes the parsed description and ignores `options.description`.
[[nodiscard]] Architecture architecture_described(const ArchitectureDescription& description,
                                                  const Checkpoint& checkpoint,
                                                  const ModelOptions& options = {});

}  // namespace attnscope
