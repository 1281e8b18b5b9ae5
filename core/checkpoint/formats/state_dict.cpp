#include "core/checkpoint/formats/state_dict.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <set>
#include <string_view>

#include "core/checkpoint/format.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr int deepest_container = 32;
// Shared members could make the number of names explode.
constexpr std::size_t most_visits = 2'000'000;
constexpr std::size_t most_characters = 100'000'000;  // characters of all names together

std::string join(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

std::optional<std::string> key_text(const PickleNode& key) {
  if (key.kind == NodeKind::text) return key.text;
  if (key.kind == NodeKind::integer) return std::to_string(key.integer);
  return std::nullopt;
}

std::optional<std::string> scalar_text(const PickleNode& node) {
  constexpr std::size_t longest = 4096;
  switch (node.kind) {
    case NodeKind::boolean:
      return node.integer != 0 ? "true" : "false";
    case NodeKind::integer:
      return std::to_string(node.integer);
    case NodeKind::real:
      return rounded_text(node.real, 9);
    case NodeKind::text:
      return node.text.substr(0, longest);
    default:
      return std::nullopt;
  }
}

const PickleNode* member(const PickleNode& node, std::string_view name) {
  for (std::size_t place = 0; node.is_mapping() && place + 1 < node.items.size(); place += 2) {
    const PickleNode& key = *node.items[place];
    if (key.kind == NodeKind::text && key.text == name) return node.items[place + 1];
  }
  return nullptr;
}

/// True for a torch.nn.Module that was saved whole. Its class is unknown, but not its attributes.
bool is_module(const PickleNode& node) {
  return node.kind == NodeKind::opaque && member(node, "_parameters") != nullptr &&
         member(node, "_buffers") != nullptr && member(node, "_modules") != nullptr;
}

/// True for a module of a TorchScript program, which has all kinds of attributes side by side.
bool is_scripted(const PickleNode& node) {
  return node.kind == NodeKind::opaque && node.text.starts_with("__torch__");
}

class TensorCollector {
 public:
  explicit TensorCollector(StateDict& result) : result_(result) {}

  void visit(const PickleNode& node, const std::string& name, int depth) {
    if (depth > deepest_container)
      throw Error(ErrorKind::damaged, "containers are nested too deeply");
    count_visits(1);
    characters_ += name.size();
    if (characters_ > most_characters) {
      throw Error(ErrorKind::damaged, "the names are absurdly long");
    }
    if (node.made_of_tensors) {
      throw Error(ErrorKind::unsupported, "the tensor is made by '" + node.text +
                                              "', which is not supported; nothing was executed")
          .about(name)
          .remedy("save it as a plain tensor: tensor.dequantize(), .to_dense(), .real");
    }
    if (node.kind == NodeKind::tensor) {
      result_.tensors.emplace_back(name.empty() ? "tensor" : name, node.tensor.get());
    } else if (is_module(node)) {
      visit_module(node, name, depth);
    } else if (node.is_mapping()) {
      if (!is_scripted(node) || name.empty()) note_opaque(node, name);
      for (std::size_t place = 0; place + 1 < node.items.size(); place += 2) {
        const PickleNode& value = *node.items[place + 1];
        // Skips values such as "training" of every module.
        if (is_scripted(node) && scalar_text(value)) continue;
        if (const auto key = key_text(*node.items[place])) {
          visit(value, join(name, *key), depth + 1);
        } else if (value.kind == NodeKind::tensor) {
          throw Error(ErrorKind::damaged, "a tensor's name is not a string").about(name);
        }
      }
    } else if (node.kind == NodeKind::list || node.kind == NodeKind::tuple) {
      for (std::size_t place = 0; place < node.items.size(); ++place) {
        visit(*node.items[place], join(name, std::to_string(place)), depth + 1);
      }
    } else if (result_.metadata.size() < most_metadata) {
      if (auto text = scalar_text(node)) result_.metadata.emplace(name, std::move(*text));
    }
  }

 private:
  /// Visits a module with the names of Module.state_dict(): its parameters and buffers, then those
  /// of its sub-modules, without non-persistent buffers.
  void visit_module(const PickleNode& module, const std::string& name, int depth) {
    std::set<std::string_view> unsaved;
    if (const PickleNode* const set = member(module, "_non_persistent_buffers_set")) {
      count_visits(set->items.size());
      for (const PickleNode* item : set->items) unsaved.insert(item->text);
    }
    for (const char* attribute : {"_parameters", "_buffers", "_modules"}) {
      const PickleNode& parts = *member(module, attribute);
      for (std::size_t place = 0; parts.is_mapping() && place + 1 < parts.items.size();
           place += 2) {
        const PickleNode& key = *parts.items[place];
        count_visits(1);
        if (key.kind != NodeKind::text || unsaved.contains(key.text)) continue;
        visit(*parts.items[place + 1], join(name, key.text), depth + 1);
      }
    }
  }

  void count_visits(std::size_t count) {
    visits_ += count;
    if (visits_ > most_visits) throw Error(ErrorKind::damaged, "the file has too many entries");
  }

  /// Records an opaque value in the metadata, so that users see that it is not read.
  void note_opaque(const PickleNode& node, const std::string& name) {
    if (node.kind != NodeKind::opaque || result_.metadata.size() >= most_metadata) return;
    result_.metadata.emplace(name.empty() ? "object" : name, node.text);
  }

  StateDict& result_;
  std::size_t visits_ = 0, characters_ = 0;
};

/// `text` in lower case (A to Z), because keys may be MODEL_STATE or State_Dict.
std::string ascii_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

/// The member of a file's outermost dictionary, in any case; null if missing.
const PickleNode* root_member(const PickleNode& root, std::string_view name) {
  for (std::size_t place = 0; root.is_mapping() && place + 1 < root.items.size(); place += 2) {
    const PickleNode& key = *root.items[place];
    if (key.kind == NodeKind::text && ascii_lower_case(key.text) == name)
      return root.items[place + 1];
  }
  return nullptr;
}

bool holds_tensor(const PickleNode& node) {
  if (is_module(node)) return true;
  if (!node.is_mapping()) return false;
  for (std::size_t place = 1; place < node.items.size(); place += 2) {
    if (node.items[place]->kind == NodeKind::tensor) return true;
  }
  return false;
}

/// Collects numbers and texts next to the state dict: the epoch, the architecture's name, training
/// options.
void collect_beside(const PickleNode& root, std::string_view chosen, StateDict& result) {
  for (std::size_t place = 0; place + 1 < root.items.size(); place += 2) {
    const PickleNode& key = *root.items[place];
    const PickleNode& value = *root.items[place + 1];
    if (key.kind != NodeKind::text || ascii_lower_case(key.text) == chosen) continue;
    if (auto text = scalar_text(value)) result.metadata.emplace(key.text, std::move(*text));
    if (value.kind == NodeKind::opaque && !is_module(value)) {
      result.metadata.emplace(key.text, value.text);
    }
    if (!value.is_mapping()) continue;
    for (std::size_t inner = 0; inner + 1 < value.items.size(); inner += 2) {
      const PickleNode& inner_key = *value.items[inner];
      if (inner_key.kind != NodeKind::text || result.metadata.size() >= most_metadata) continue;
      if (auto text = scalar_text(*value.items[inner + 1])) {
        result.metadata.emplace(key.text + "." + inner_key.text, std::move(*text));
      }
    }
  }
}

/// Splits dictionaries of MMCV and MMEngine, which hold a twin "ema_a_b" for each parameter a.b.
/// The result is a state dict of the twins under their parameters' names, plus the tensors without
/// a twin. Empty if there are no twins.
std::optional<StateDict> split_off_twins(StateDict& state) {
  constexpr std::string_view prefix = "ema_";
  std::map<std::string, const PickledTensor*> twins;  // twins by name without the prefix
  for (const auto& [name, tensor] : state.tensors) {
    if (name.starts_with(prefix)) twins.emplace(name.substr(prefix.size()), tensor);
  }
  if (twins.empty()) return std::nullopt;
  StateDict averaged;
  std::set<std::string> used;
  for (const auto& [name, tensor] : state.tensors) {
    std::string joined = name;
    std::replace(joined.begin(), joined.end(), '.', '_');
    const auto twin = twins.find(joined);
    if (twin != twins.end()) used.insert(std::string(prefix) + joined);
    averaged.tensors.emplace_back(name, twin == twins.end() ? tensor : twin->second);
  }
  if (used.empty()) return std::nullopt;
  const auto is_twin = [&](const auto& named) { return used.contains(named.first); };
  std::erase_if(state.tensors, is_twin);
  std::erase_if(averaged.tensors, is_twin);
  averaged.name = (state.name.empty() ? "" : state.name + " ") + std::string("ema_ names");
  averaged.metadata = state.metadata;
  if (state.name.empty()) state.name = "plain names";
  state.metadata["state dict"] = state.name;
  averaged.metadata["state dict"] = averaged.name;
  return averaged;
}

}  // namespace

std::vector<StateDict> find_state_dicts(const PickleNode& root) {
  // Raw weights come before averaged ones. Exception: the teacher comes before the student that it
  // averages (DINO), because the teacher is the published model.
  static constexpr std::string_view names[] = {
      "state_dict",     "model_state_dict", "model_state", "model",     "net",    "network",
      "module",         "weights",          "params",      "model_ema", "ema",    "state_dict_ema",
      "ema_state_dict", "ema_model",        "params_ema",  "teacher",   "student"};
  std::vector<StateDict> found;
  for (const std::string_view name : names) {
    const PickleNode* const candidate = holds_tensor(root) ? nullptr : root_member(root, name);
    if (candidate == nullptr || !holds_tensor(*candidate)) continue;
    StateDict& state = found.emplace_back();
    state.name = name;
    TensorCollector(state).visit(*candidate, "", 0);
    collect_beside(root, name, state);
    state.metadata.emplace("state dict", name);
  }
  if (found.empty()) TensorCollector(found.emplace_back()).visit(root, "", 0);
  for (std::size_t i = 0, count = found.size(); i < count; ++i) {
    if (std::optional<StateDict> twins = split_off_twins(found[i])) {
      found.push_back(std::move(*twins));
    }
  }
  return found;
}

}  // namespace attnscope
