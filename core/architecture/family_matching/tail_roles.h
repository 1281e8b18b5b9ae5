// Roles of a tail's layers: the roles of every layer, prefixed with the kind of tail layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace attnscope {

/// A role such as "cross.query".
struct TailRole {
  std::string name;             ///< role in every layer: "query"
  std::int64_t place = 0;       ///< index of the layer within a block of the tail
  std::int64_t block_size = 1;  ///< number of layers per block
};

/// Parts of a tail role; empty for other roles. "decoder.": self-attention layers of a decoder;
/// "cross.": its cross-attention layers; "tail.": layers of a tail whose blocks are one layer.
[[nodiscard]] inline std::optional<TailRole> tail_role(std::string_view role) {
  for (const auto& [prefix, place, size] : {std::tuple{std::string_view("decoder."), 0, 2},
                                            std::tuple{std::string_view("cross."), 1, 2},
                                            std::tuple{std::string_view("tail."), 0, 1}}) {
    if (role.starts_with(prefix))
      return TailRole{std::string(role.substr(prefix.size())), place, size};
  }
  return std::nullopt;
}

/// True if a role belongs to each layer, including the tail's layers.
[[nodiscard]] inline bool is_layer_role(std::string_view role) {
  return role.starts_with("layer.") || tail_role(role);
}

}  // namespace attnscope
