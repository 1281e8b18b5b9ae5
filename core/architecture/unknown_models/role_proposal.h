// Proposes a role for each tensor of an unknown model by names and shapes, with a certainty. People
// correct the proposals; they are never run unseen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/architecture.h"
#include "core/architecture/tensor_groups.h"

namespace attnscope {

enum class Certainty {
  guess,   ///< based on its shape and place in the file only
  likely,  ///< based on a name like those of known models, and its shape
  sure     ///< based on a word with this meaning only, and its shape
};

struct RoleProposal {
  std::string role;  ///< role: "layer.query.weight"
  std::string pattern;
  bool transposed = false;  ///< stored as [in, out]
  Certainty certainty = Certainty::guess;
  double score = 0;  ///< 0 to 1; the higher score wins
};

/// Proposed roles, at most one per group and one per role, in the order of the groups. Groups
/// without a proposal are left out.
[[nodiscard]] std::vector<RoleProposal> propose_roles(const std::vector<TensorGroup>& groups);

/// True if a tensor of that shape may have the role in a model of that width (0: unknown),
/// according to the shapes of the role. Sets `transposed` if only [in, out] fits. Unknown roles fit
/// nothing.
[[nodiscard]] bool shape_fits(const std::string& role, const Shape& shape, std::int64_t width,
                              bool* transposed = nullptr);

/// False if an alternative of the role is among the `taken` ones (a set or map): queries, keys and
/// values are in one weight or in three, and a model reads patches or tokens.
template <class Roles>
[[nodiscard]] bool is_open(std::string_view role, const Roles& taken) {
  const std::string module = parts_of_role(role).module;
  const auto has = [&](const char* other) { return taken.contains(other); };
  if (module == "layer.qkv") return !has("layer.query.weight") && !has("layer.key.weight");
  if (module == "layer.query" || module == "layer.key" || module == "layer.value") {
    return !has("layer.qkv.weight");
  }
  if (module == "token_embedding") return !has("patch.weight");
  if (module == "patch" || module == "class_token") return !has("token_embedding.weight");
  return true;
}

/// Width that the shapes of the layers suggest; 0 if unknown.
[[nodiscard]] std::int64_t width_of(const std::vector<TensorGroup>& groups);

}  // namespace attnscope
