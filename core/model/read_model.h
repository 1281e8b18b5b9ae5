// Reads a model from a checkpoint that is already open or exists only in memory.
#pragma once

#include <filesystem>
#include <memory>

#include "core/checkpoint/checkpoint.h"
#include "core/model/model.h"

namespace attnscope {

/// Like load_model, but takes an open checkpoint and does not compare the model with a reference.
/// `file` becomes the file of the model.
[[nodiscard]] std::shared_ptr<const Model> read_model(const Checkpoint& checkpoint,
                                                      const std::filesystem::path& file,
                                                      const ModelOptions& options = {},
                                                      const Progress& progress = {});

}  // namespace attnscope
