// One description held against one file: which tensor has which role.
#pragma once

#include <string>
#include <vector>

#include "core/architecture/architecture.h"

namespace attnscope {

/// A required pattern that matched nothing, as it would be named in the file's first layer.
struct MissingTensor {
  std::string role;
  std::string pattern;  ///< with {layer}
  std::string name;     ///< without
};

struct ArchitectureMatch {
  const ArchitectureDescription* description = nullptr;
  std::string prefix;  ///< "module.vit."
  /// Prefixes, without their last dot, under which the file holds other models of the same names.
  std::vector<std::string> alternatives;
  std::int64_t layers = 0;  ///< with those of the tail
  std::int64_t tail_blocks = 0;
  std::vector<std::int64_t> depths;  ///< blocks of each stage; empty where there are no stages
  std::map<std::string, Architecture::Source, std::less<>> sources;
  std::vector<MissingTensor> missing;
  std::size_t required = 0;  ///< patterns that had to match, once however many layers
  std::string refused;       ///< what the file is instead; empty if nothing speaks against it

  [[nodiscard]] bool complete() const { return missing.empty() && refused.empty(); }
};

/// The best match over the tolerated prefixes ("module.", "model.", "backbone.", "encoder.", …), of
/// those that begin with `state_dict` if any does. `said`: the file is known to be of that family;
/// else it has one of the description's own prefixes, if there are any.
[[nodiscard]] ArchitectureMatch match_architecture(const ArchitectureDescription& description,
                                                   const Checkpoint& checkpoint,
                                                   const std::string& state_dict = {},
                                                   bool said = false);

}  // namespace attnscope
