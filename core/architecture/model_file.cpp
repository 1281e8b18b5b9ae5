#include "core/architecture/model_file.h"

namespace attnscope {

Checkpoint open_model_file(const std::filesystem::path& path, const ModelOptions& options) {
  Checkpoint checkpoint = open_checkpoint(path);
  const std::string asked = options.state_dict();
  // A name that matches no state dict may be a prefix of the tensors' names.
  for (const std::string& other : checkpoint.other_state_dicts()) {
    if (other == asked) return checkpoint.with_state_dict(asked);
  }
  return checkpoint;
}

}  // namespace attnscope
