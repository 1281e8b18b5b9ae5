#include "core/checkpoint/formats/state_dict.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using Kind = PickleNode::Kind;

constexpr int deepest = 32;
constexpr std::size_t most_visits = 2'000'000;  // containers may share members: names can explode
constexpr std::size_t most_characters = 100'000'000;  // of all names together
constexpr std::size_t most_metadata = 500;

std::string join(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

std::optional<std::string> key_text(const PickleNode& key) {
  if (key.kind == Kind::text) return key.text;
  if (key.kind == Kind::integer) return std::to_string(key.integer);
  return std::nullopt;
}

std::optional<std::string> scalar_text(const PickleNode& node) {
  constexpr std::size_t longest = 4096;
  switch (node.kind) {
    case Kind::boolean:
      return node.integer != 0 ? "true" : "false";
    case Kind::integer:
      return std::to_string(node.integer);
    case Kind::real:
      return rounded_text(node.real, 9);
    case Kind::text:
      return node.text.substr(0, longest);
    default:
      return std::nullopt;
  }
}

class Collector {
 public:
  explicit Collector(StateDict& result) : result_(result) {}

  void visit(const PickleNode& node, const std::string& name, int depth) {
    if (depth > deepest) throw Error(ErrorKind::damaged, "containers are nested too deeply");
    if (++visits_ > most_visits) throw Error(ErrorKind::damaged, "the file names too many things");
    characters_ += name.size();
    if (characters_ > most_characters) {
      throw Error(ErrorKind::damaged, "the names are absurdly long");
    }
    if (node.kind == Kind::tensor) {
      result_.tensors.emplace_back(name.empty() ? "tensor" : name, node.tensor.get());
    } else if (node.is_mapping()) {
      for (std::size_t place = 0; place + 1 < node.items.size(); place += 2) {
        const PickleNode& value = *node.items[place + 1];
        if (const auto key = key_text(*node.items[place])) {
          visit(value, join(name, *key), depth + 1);
        } else if (value.kind == Kind::tensor) {
          throw Error(ErrorKind::damaged, "a tensor's name is no text").about(name);
        }
      }
    } else if (node.kind == Kind::list || node.kind == Kind::tuple) {
      for (std::size_t place = 0; place < node.items.size(); ++place) {
        visit(*node.items[place], join(name, std::to_string(place)), depth + 1);
      }
    } else if (result_.metadata.size() < most_metadata) {
      if (auto text = scalar_text(node)) result_.metadata.emplace(name, std::move(*text));
    }
  }

 private:
  StateDict& result_;
  std::size_t visits_ = 0, characters_ = 0;
};

bool holds_tensor(const PickleNode& node) {
  if (!node.is_mapping()) return false;
  for (std::size_t place = 1; place < node.items.size(); place += 2) {
    if (node.items[place]->kind == Kind::tensor) return true;
  }
  return false;
}

const PickleNode* member(const PickleNode& node, std::string_view name) {
  for (std::size_t place = 0; node.is_mapping() && place + 1 < node.items.size(); place += 2) {
    const PickleNode& key = *node.items[place];
    if (key.kind == Kind::text && key.text == name) return node.items[place + 1];
  }
  return nullptr;
}

/// Numbers and texts beside the state dict: the epoch, the architecture's name, training options.
void collect_beside(const PickleNode& root, std::string_view chosen, StateDict& result) {
  for (std::size_t place = 0; place + 1 < root.items.size(); place += 2) {
    const PickleNode& key = *root.items[place];
    const PickleNode& value = *root.items[place + 1];
    if (key.kind != Kind::text || key.text == chosen) continue;
    if (auto text = scalar_text(value)) result.metadata.emplace(key.text, std::move(*text));
    if (value.kind != Kind::dict && value.kind != Kind::record) continue;
    for (std::size_t inner = 0; inner + 1 < value.items.size(); inner += 2) {
      const PickleNode& inner_key = *value.items[inner];
      if (inner_key.kind != Kind::text || result.metadata.size() >= most_metadata) continue;
      if (auto text = scalar_text(*value.items[inner + 1])) {
        result.metadata.emplace(key.text + "." + inner_key.text, std::move(*text));
      }
    }
  }
}

}  // namespace

StateDict find_state_dict(const PickleNode& root) {
  StateDict result;
  Collector collector(result);
  if (!holds_tensor(root)) {
    for (const std::string_view name : {"state_dict", "model_state_dict", "model", "net"}) {
      const PickleNode* const candidate = member(root, name);
      if (candidate == nullptr || !holds_tensor(*candidate)) continue;
      collector.visit(*candidate, "", 0);
      collect_beside(root, name, result);
      result.metadata.emplace("state dict", name);
      return result;
    }
  }
  collector.visit(root, "", 0);
  return result;
}

}  // namespace attnscope
