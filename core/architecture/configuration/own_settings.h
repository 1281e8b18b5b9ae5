// Settings that training code saves in the weight file: nanoGPT's model_args, the settings of a
// course project.
#pragma once

#include "core/architecture/configuration/neighbour_config.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Adds heads, position of norms and activation from the file's settings to `config`, by common
/// names ("model_args.n_head"), unless the configuration gives them. Settings that contradict each
/// other or have unknown values are ignored.
void add_own_settings(const Checkpoint& checkpoint, NeighbourConfig& config);

}  // namespace attnscope
