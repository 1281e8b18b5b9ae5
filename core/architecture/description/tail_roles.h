// Roles of a tail's layers: those of every layer, after a word that says which layers of the tail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace attnscope {

/// A role such as "cross.query".
struct TailRole {
  std::string name;             ///< of every layer: "query"
  std::int64_t place = 0;       ///< which layer of a block of the tail
  std::int64_t block_size = 1;  ///< layers of a block
};

/// Nothing for roles that are no tail's. "decoder.": the text's own layers; "cross.": those that
/// ask the encoder; "tail.": of a tail whose blocks are one layer.
[[nodiscard]] inline std::optional<TailRole> tail_role(std::string_view role) {
  for (const auto& [prefix, place, size] : {std::tuple{std::string_view("decoder."), 0, 2},
                                            std::tuple{std::string_view("cross."), 1, 2},
                                            std::tuple{std::string_view("tail."), 0, 1}}) {
    if (role.starts_with(prefix))
      return TailRole{std::string(role.substr(prefix.size())), place, size};
  }
  return std::nullopt;
}

/// Whether a role is one of each layer, of the tail's too.
[[nodiscard]] inline bool is_layer_role(std::string_view role) {
  return role.starts_with("layer.") || tail_role(role);
}

}  // namespace attnscope
