// A model of a checkpoint that is open already, or that lies in memory alone.
#pragma once

#include <filesystem>
#include <memory>

#include "core/checkpoint/checkpoint.h"
#include "core/model/model.h"

namespace attnscope {

/// As load_model, which opens `file` first: that is what the model calls its file.
[[nodiscard]] std::shared_ptr<const Model> read_model(const Checkpoint& checkpoint,
                                                      const std::filesystem::path& file,
                                                      const ModelOptions& options = {},
                                                      const Progress& progress = {});

}  // namespace attnscope
