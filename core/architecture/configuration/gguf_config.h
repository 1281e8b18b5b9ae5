// What a GGUF file says of the model in it, by its keys.
#pragma once

#include <span>
#include <string>

#include "core/architecture/configuration/neighbour_config.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Of a checkpoint with key values. Keys that `ignored` names (patterns "config.llama.KEY", or
/// "config" for all) are left out. Throws Error(unsupported) naming the key for an architecture or
/// a value that this version does not run, and for tensors that the architecture has not;
/// Error(damaged) for a key that is missing or of another type.
[[nodiscard]] NeighbourConfig gguf_config(const Checkpoint& checkpoint,
                                          std::span<const std::string> ignored = {});

}  // namespace attnscope
