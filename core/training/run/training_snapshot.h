// The weights of a training at one moment: a model that lies in no file yet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/training/network.h"

namespace attnscope {

/// Immutable, and independent of the run it was taken from, which goes on.
struct TrainingSnapshot {
  std::int64_t step = 0;  ///< steps done
  std::string recipe;     ///< JSON
  std::shared_ptr<const TrainedNetwork> network;
  std::vector<float> values;  ///< of network->parameters()
};

/// An HDF5 file of the model in the program's own layout, which calls itself `name`. The same
/// weights are the same bytes.
[[nodiscard]] std::string model_bytes(const TrainingSnapshot& snapshot, const std::string& name);

/// What opening such a file gives, without one: for read_model (core/model/read_model.h). It keeps
/// the snapshot; `path` need not be there.
[[nodiscard]] Checkpoint checkpoint_of(std::shared_ptr<const TrainingSnapshot> snapshot,
                                       const std::filesystem::path& path, const std::string& name);

}  // namespace attnscope
