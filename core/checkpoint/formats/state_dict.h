// From a pickled object to named tensors: where the state dict lies, and what lies beside it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/formats/pickle.h"

namespace attnscope {

struct StateDict {
  std::vector<std::pair<std::string, const PickledTensor*>> tensors;  ///< in the file's order
  std::map<std::string, std::string> metadata;  ///< numbers and texts beside and among them
};

/// The tensors of `root`: all of them if it holds any directly, else those under the first of
/// state_dict, model_state_dict, model_state, model, net (in any case) that holds any, else all at
/// whatever depth. Nested names are joined by dots; a module that was saved whole counts as its
/// state_dict(). Throws Error(damaged) for nesting too deep or endless, Error(unsupported) naming
/// the tensor that something unknown would make.
[[nodiscard]] StateDict find_state_dict(const PickleNode& root);

}  // namespace attnscope
