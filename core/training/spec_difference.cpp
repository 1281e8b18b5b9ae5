#include "core/training/spec_difference.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/architecture/model_spec_json.h"

namespace attnscope {

std::string first_difference(const ModelSpec& wanted, const ModelSpec& found) {
  const nlohmann::json changes = nlohmann::json::diff(nlohmann::json::parse(to_json(wanted)),
                                                      nlohmann::json::parse(to_json(found)));
  if (changes.empty()) return {};
  std::string path = changes.front().at("path").get<std::string>().substr(1);
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

}  // namespace attnscope
