// Sources of layers that share stored tensors (ALBERT).
#pragma once

#include <map>
#include <string>

#include "core/architecture/model_spec.h"
#include "core/architecture/tensor_source.h"

namespace attnscope {

/// `sources` of stored layers ("layer.0.query.weight"), repeated for every layer that uses them:
/// stored_layer.
[[nodiscard]] std::map<std::string, TensorSource, std::less<>> sources_of_all_layers(
    const std::map<std::string, TensorSource, std::less<>>& sources, const ModelSpec& spec);

}  // namespace attnscope
