// The members of a ModelSpec as JSON values, each under its path.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/spec_members.h"

namespace attnscope {

/// What said which kind of model it is before its parts did; still read.
inline constexpr std::string_view kFormerFamily = "family";

/// Where the members of a layer stand.
inline constexpr std::string_view kOfLayer = "layer.";

/// What stands under `path` ("layer.norm.eps") of nested objects, made on the way.
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

/// Leaves `spec` as it is: a member is found in one that may be changed.
[[nodiscard]] nlohmann::json member_as_json(ModelSpec& spec, const SpecMember& member);

/// Throws Error(damaged) naming the member, what it may be and what was found.
void set_member(ModelSpec& spec, const SpecMember& member, const nlohmann::json& value);

/// One member that an object states.
struct Statement {
  const SpecMember* member;
  const nlohmann::json* value;
};

/// The members that an architecture states: by their places, or by the names of their options.
/// Throws Error(damaged) for an unknown key, listing the known. The values are `object`'s.
[[nodiscard]] std::vector<Statement> statements(const nlohmann::json& object);

}  // namespace attnscope
