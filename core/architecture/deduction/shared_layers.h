// Layers of a file that are run several times (ALBERT).
#pragma once

#include <map>
#include <string>

#include "core/architecture/model_spec.h"
#include "core/architecture/tensor_source.h"

namespace attnscope {

/// `sources` of stored layers, "layer.0.query.weight", under the numbers of all layers that are
/// run: stored_layer.
[[nodiscard]] std::map<std::string, TensorSource, std::less<>> sources_of_all_layers(
    const std::map<std::string, TensorSource, std::less<>>& sources, const ModelSpec& spec);

}  // namespace attnscope
