// Members of a ModelSpec as JSON values, each under its path.
#pragma once

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/spec_members.h"

namespace attnscope {

/// Path prefix of the members of a layer.
inline constexpr std::string_view kOfLayer = "layer.";

/// Value at `path` ("layer.norm.eps") in nested objects; missing objects are created.
template <class Json>
Json& at_path(Json& object, std::string_view path) {
  Json* place = &object;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    place = &(*place)[std::string(path.substr(0, dot))];
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return *place;
}

/// JSON value of a member. `spec` is not changed, but must be mutable because SpecMember::of needs
/// it.
[[nodiscard]] nlohmann::json member_as_json(ModelSpec& spec, const SpecMember& member);

/// Sets a member from JSON. Throws Error(damaged) naming the member, the valid values and the value
/// found.
void set_member(ModelSpec& spec, const SpecMember& member, const nlohmann::json& value);

/// Member with the value that an object gives it.
struct Statement {
  const SpecMember* member;
  const nlohmann::json* value;
};

/// Members that an architecture gives by path or by option name. Throws Error(damaged) for an
/// unknown key, listing the known ones. The values belong to `object`.
[[nodiscard]] std::vector<Statement> statements(const nlohmann::json& object);

}  // namespace attnscope
