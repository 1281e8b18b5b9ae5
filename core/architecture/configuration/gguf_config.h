// Model settings from the keys of a GGUF file.
#pragma once

#include <span>
#include <string>

#include "core/architecture/configuration/neighbour_config.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Settings of a checkpoint with key values. Keys that `ignored` names (patterns
/// "config.llama.KEY", or "config" for all) are left out. Throws Error(unsupported) naming the key
/// for an architecture or a value that is not supported, and for tensors that the architecture does
/// not have; Error(damaged) for a key that is missing or has a different type.
[[nodiscard]] NeighbourConfig gguf_config(const Checkpoint& checkpoint,
                                          std::span<const std::string> ignored = {});

}  // namespace attnscope
