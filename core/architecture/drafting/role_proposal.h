// Which role each tensor of an unknown model probably has, from names and shapes, and how sure that
// is: for people to correct, never to run unseen.
#pragma once

#include <string>
#include <vector>

#include "core/architecture/drafting/tensor_groups.h"

namespace attnscope {

enum class Certainty {
  guess,   ///< by its shape and its place in the file alone
  likely,  ///< by a name like those of known models, and its shape
  sure     ///< by a word that means this alone, and its shape
};

struct RoleProposal {
  std::string role;  ///< "layer.query.weight"
  std::string pattern;
  bool transposed = false;  ///< stored as [in, out]
  Certainty certainty = Certainty::guess;
  double score = 0;  ///< 0 to 1, by which they are sorted out
};

/// At most one for each group, and one for each role; groups without one are left out. In the order
/// of the groups.
[[nodiscard]] std::vector<RoleProposal> propose_roles(const std::vector<TensorGroup>& groups);

/// Whether a tensor of that shape may have the role in a model of that width (0: unknown), as its
/// explanation says; if only [in, out], `transposed` is set. A role that is not known fits nothing.
[[nodiscard]] bool shape_fits(const std::string& role, const Shape& shape, std::int64_t width,
                              bool* transposed = nullptr);

/// The width that the shapes speak of; 0 where they do not tell.
[[nodiscard]] std::int64_t width_of(const std::vector<TensorGroup>& groups);

}  // namespace attnscope
