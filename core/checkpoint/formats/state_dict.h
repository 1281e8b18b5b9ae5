// From a pickled object to named tensors: where the state dict lies, and what lies beside it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/formats/pickle.h"

namespace attnscope {

struct StateDict {
  std::string name;  ///< of its place in the file, in small letters; empty: the whole file
  std::vector<std::pair<std::string, const PickledTensor*>> tensors;  ///< in the file's order
  std::map<std::string, std::string> metadata;  ///< numbers and texts beside and among them
};

/// The tensors of `root`: all of them if it holds any directly; else those under each of
/// state_dict, model_state_dict, model, net, model_ema and their like (in any case) that holds any,
/// raw weights before averaged ones; else all at whatever depth. Nested names are joined by dots.
/// Twins named ema_a_b beside a.b are a further state dict, "ema_ names", under the names a.b.
/// A module that was saved whole counts as its state_dict(). At least one. Throws Error(damaged)
/// for nesting too deep or endless, Error(unsupported) naming the tensor that something unknown
/// would make.
[[nodiscard]] std::vector<StateDict> find_state_dicts(const PickleNode& root);

}  // namespace attnscope
