// Opens a model's weight file with the user's options.
#pragma once

#include "core/architecture/model_options.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Opens a weight file, or the weight file in a folder, with the state dict that `options` names if
/// the file holds several. Throws like open_checkpoint.
[[nodiscard]] Checkpoint open_model_file(const std::filesystem::path& path,
                                         const ModelOptions& options);

}  // namespace attnscope
