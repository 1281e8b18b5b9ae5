// A run whose maps need not all be in memory: of long texts they are tens of gigabytes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/model/model.h"

namespace attnscope {

/// Reads what it wants of `layers`, which `trace` holds whole; of the others it may hold nothing.
using TakeLayers = std::function<void(const Trace& trace, const std::vector<std::int64_t>& layers,
                                      const Progress& progress)>;

/// Runs the model and gives `take` its recorded layers, each once and in order: several at once, as
/// many as come to `batch_bytes` of maps. What was taken is then forgotten: the returned trace has
/// neither maps nor factors. Errors as Model::run, for maps too large to keep of a single layer.
Trace run_by_layers(const Model& model, const Input& input, const MechanismChoice& mechanism,
                    TraceRequest request, std::int64_t batch_bytes, const TakeLayers& take,
                    const Progress& progress = {});

}  // namespace attnscope
