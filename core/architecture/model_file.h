// A model's weight file, opened as the user's options say.
#pragma once

#include "core/architecture/model_options.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Opens a weight file, or the one in a folder, with the state dict that `options` names, where the
/// file holds several. Throws Error as open_checkpoint does.
[[nodiscard]] Checkpoint open_model_file(const std::filesystem::path& path,
                                         const ModelOptions& options);

}  // namespace attnscope
