// The weights of a training at one step: a model that is not in a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/training/network.h"

namespace attnscope {

/// Immutable, and independent of the run it was taken from, which may continue.
struct TrainingSnapshot {
  std::int64_t step = 0;  ///< number of completed steps
  std::string recipe;     ///< JSON
  std::shared_ptr<const TrainedNetwork> network;
  std::vector<float> values;  ///< values of network->parameters()
};

/// An HDF5 file of the model in the program's own layout, with the name `name`. Equal weights give
/// equal bytes.
[[nodiscard]] std::string model_bytes(const TrainingSnapshot& snapshot, const std::string& name);

/// The checkpoint that opening a file of model_bytes would return, for read_model
/// (core/model/model.h). It keeps the snapshot alive; `path` need not exist.
[[nodiscard]] Checkpoint checkpoint_of(std::shared_ptr<const TrainingSnapshot> snapshot,
                                       const std::filesystem::path& path, const std::string& name);

}  // namespace attnscope
