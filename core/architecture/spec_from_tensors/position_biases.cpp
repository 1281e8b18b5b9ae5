#include "core/architecture/spec_from_tensors/position_biases.h"

#include "core/error.h"

namespace attnscope {

void check_position_biases(const Architecture& architecture, const Checkpoint& checkpoint,
                           std::int64_t layers, std::int64_t tokens, const std::string& remedy) {
  const Shape expected = {tokens, tokens};
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    for (const char* name : {"w", "local_mask"}) {
      const auto source =
          architecture.sources.find("layer." + std::to_string(layer) + ".mechanism." + name);
      if (source == architecture.sources.end()) continue;
      const StoredTensor& tensor = checkpoint.at(source->second.tensor);
      if (tensor.shape == expected) continue;
      throw Error(ErrorKind::damaged, "the position biases do not fit the tokens")
          .in_file(checkpoint.path())
          .about(tensor.name)
          .expected(to_string(expected))
          .found(to_string(tensor.shape))
          .remedy(remedy);
    }
  }
}

}  // namespace attnscope
