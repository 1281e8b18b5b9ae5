#include "core/architecture/deduction/shared_layers.h"

#include <string_view>

namespace attnscope {

std::map<std::string, TensorSource, std::less<>> sources_of_all_layers(
    const std::map<std::string, TensorSource, std::less<>>& sources, const ModelSpec& spec) {
  constexpr std::string_view of_layer = "layer.";
  std::map<std::string, TensorSource, std::less<>> all;
  for (const auto& [role, source] : sources) {
    if (!role.starts_with(of_layer)) {
      all.emplace(role, source);
      continue;
    }
    const std::size_t dot = role.find('.', of_layer.size());
    const std::string stored = role.substr(of_layer.size(), dot - of_layer.size());
    for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
      if (std::to_string(stored_layer(spec, layer)) != stored) continue;
      all.emplace(std::string(of_layer) + std::to_string(layer) + role.substr(dot), source);
    }
  }
  return all;
}

}  // namespace attnscope
