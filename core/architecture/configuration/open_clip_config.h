// open_clip_config.json: what OpenCLIP says of the two towers that it saves in one file.
#pragma once

#include <nlohmann/json.hpp>

#include "core/architecture/configuration/neighbour_config.h"

namespace attnscope {

/// Takes it into `config.towers`: that of images, and that of texts where it is CLIP's own. Throws
/// Error(unsupported) for a value of a known key that is not run, Error(damaged) for one of the
/// wrong type.
void read_open_clip_config(const nlohmann::json& object, NeighbourConfig& config);

}  // namespace attnscope
