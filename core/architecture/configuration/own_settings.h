// What training code saves beside the weights, in the same file: nanoGPT's model_args, the settings
// of a course project.
#pragma once

#include "core/architecture/configuration/neighbour_config.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Adds to `config` what the file's settings say of heads, norms and activation, by the names that
/// are usual ("model_args.n_head"), where the configuration does not speak of them. Settings that
/// contradict each other, or whose values are not understood, say nothing.
void add_own_settings(const Checkpoint& checkpoint, NeighbourConfig& config);

}  // namespace attnscope
