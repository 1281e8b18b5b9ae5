// Finds named tensors in a pickled object: the state dicts and the values next to them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/formats/pickle.h"

namespace attnscope {

struct StateDict {
  std::string name;  ///< lower-case key in the file; empty: the whole file
  std::vector<std::pair<std::string, const PickledTensor*>> tensors;  ///< in the file's order
  std::map<std::string, std::string> metadata;  ///< numbers and texts next to the tensors
};

/// The state dicts of `root`, at least one. If `root` holds tensors directly, it is the only one.
/// Otherwise every member named state_dict, model_state_dict, model, net, model_ema or similar (in
/// any case) that holds tensors is one, raw weights before averaged ones. If there is no such
/// member, all tensors at any depth form one. Nested names are joined by dots. Twins named ema_a_b
/// next to a.b form a further state dict, "ema_ names", under the names a.b. A module that was
/// saved whole counts as its state_dict(). Throws Error(damaged) if nesting is too deep or endless,
/// Error(unsupported) naming a tensor that an unknown function would make.
[[nodiscard]] std::vector<StateDict> find_state_dicts(const PickleNode& root);

}  // namespace attnscope
