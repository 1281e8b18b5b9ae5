// Runs a model without keeping all maps in memory, which take tens of gigabytes for long texts.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/model/model.h"

namespace attnscope {

/// A function that processes `layers`, whose records are complete in `trace`; other layers may be
/// empty.
using TakeLayers = std::function<void(const Trace& trace, const std::vector<std::int64_t>& layers,
                                      const Progress& progress)>;

/// Runs the model and passes its recorded layers to `take`, each once and in order, in batches of
/// about `batch_bytes` of maps. They are then released: the returned trace has neither maps nor
/// factors. Throws the errors of Model::run, also if the maps of a single layer are too large.
Trace run_by_layers(const Model& model, const Input& input, const MechanismChoice& mechanism,
                    TraceRequest request, std::int64_t batch_bytes, const TakeLayers& take,
                    const Progress& progress = {});

}  // namespace attnscope
