// Reads open_clip_config.json, which describes the two towers that OpenCLIP saves in one file.
#pragma once

#include <nlohmann/json.hpp>

#include "core/architecture/configuration/neighbour_config.h"

namespace attnscope {

/// Fills `config.towers`: the image tower, and the text tower if it is CLIP's or SigLIP's own.
/// Throws Error(unsupported) for a value of a known key that is not supported, Error(damaged) for
/// one of the wrong type.
void read_open_clip_config(const nlohmann::json& object, NeighbourConfig& config);

}  // namespace attnscope
