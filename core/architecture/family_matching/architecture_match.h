// Matches one description against one file: the tensor of each role.
#pragma once

#include <string>
#include <vector>

#include "core/architecture/architecture.h"

namespace attnscope {

/// Required pattern that matched nothing, with its name in the file's first layer.
struct MissingTensor {
  std::string role;
  std::string pattern;  ///< pattern with {layer}
  std::string name;     ///< name without placeholders
};

struct ArchitectureMatch {
  const ArchitectureDescription* description = nullptr;
  std::string prefix;  ///< prefix of the tensors' names: "module.vit."
  /// Prefixes, without their last dot, under which the file holds other models with the same names.
  std::vector<std::string> alternatives;
  std::int64_t layers = 0;  ///< number of layers, including the tail
  std::int64_t tail_blocks = 0;
  std::vector<std::int64_t> depths;  ///< number of blocks per stage; empty without stages
  std::map<std::string, Architecture::Source, std::less<>> sources;
  std::vector<MissingTensor> missing;
  std::size_t required = 0;  ///< number of required patterns, counted once for all layers
  std::string refused;       ///< tensor that rules the family out, in words; empty if none

  [[nodiscard]] bool complete() const { return missing.empty() && refused.empty(); }
};

/// Best match over the accepted prefixes ("module.", "model.", "backbone.", "encoder.", …), limited
/// to those that begin with `state_dict` if any does. `said`: the file is known to be of that
/// family; otherwise one of the description's own prefixes must be present, if it has any.
[[nodiscard]] ArchitectureMatch match_architecture(const ArchitectureDescription& description,
                                                   const Checkpoint& checkpoint,
                                                   const std::string& state_dict = {},
                                                   bool said = false);

}  // namespace attnscope
