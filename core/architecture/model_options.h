// What users say of a model file where it is silent.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace attnscope {

/// What the user says where a file is silent: option names of ModelSpec → values as text
/// ("heads" → "3"), and possibly an architecture description.
struct ModelOptions {
  std::map<std::string, std::string> overrides;
  std::filesystem::path description;  ///< a user's architecture description (JSON); may be empty

  bool operator==(const ModelOptions&) const = default;
};

}  // namespace attnscope
