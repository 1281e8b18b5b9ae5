#include "core/checkpoint/architecture_match.h"

#include <algorithm>
#include <array>
#include <set>

namespace attnscope {

namespace {

constexpr std::int64_t kMostLayers = 4096;

/// What wrappers put before the names of the model inside them.
constexpr std::array<std::string_view, 14> kWrappers = {
    "module.",  "model.",     "backbone.",    "encoder.", "vit.",     "deit.",       "net.",
    "network.", "_orig_mod.", "transformer.", "student.", "teacher.", "base_model.", "visual."};

/// Every prefix made of wrappers that some tensor has; "" first, then by length.
std::vector<std::string> prefixes(const Checkpoint& checkpoint) {
  std::set<std::string> found = {""};
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    std::size_t end = 0;
    for (int depth = 0; depth < 4 && found.size() < 64; ++depth) {
      const std::string_view rest = std::string_view(tensor.name).substr(end);
      const auto wrapper = std::find_if(kWrappers.begin(), kWrappers.end(),
                                        [&](auto name) { return rest.starts_with(name); });
      if (wrapper == kWrappers.end()) break;
      end += wrapper->size();
      found.insert(tensor.name.substr(0, end));
    }
  }
  std::vector<std::string> list(found.begin(), found.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return list;
}

std::string with_layer(std::string pattern, std::int64_t layer) {
  constexpr std::string_view placeholder = "{layer}";
  for (std::size_t at = pattern.find(placeholder); at != std::string::npos;
       at = pattern.find(placeholder, at)) {
    pattern.replace(at, placeholder.size(), std::to_string(layer));
  }
  return pattern;
}

class Matcher {
 public:
  Matcher(const ArchitectureDescription& description, const Checkpoint& checkpoint,
          const std::string& prefix)
      : description_(description), checkpoint_(checkpoint) {
    match_.description = &description;
    match_.prefix = prefix;
    // A head often stands outside what wraps the rest: "vit.layernorm", but "classifier".
    for (std::string outer = prefix;;) {
      prefixes_.push_back(outer);
      if (outer.empty()) break;
      const std::size_t dot = outer.find_last_of('.', outer.size() - 2);
      outer = dot == std::string::npos ? "" : outer.substr(0, dot + 1);
    }
  }

  ArchitectureMatch match() {
    match_.layers = count_layers();
    for (const auto& [role, patterns] : description_.tensors) {
      const bool of_layer = role.starts_with("layer.");
      const bool optional = std::any_of(patterns.begin(), patterns.end(),
                                        [](const TensorPattern& p) { return p.optional; });
      if (!optional) ++match_.required;
      // Without any layer, layer 0 is asked for: its absence is what an error names.
      const std::int64_t count = of_layer ? std::max<std::int64_t>(match_.layers, 1) : 1;
      for (std::int64_t layer = 0; layer < count; ++layer) {
        if (take(role, patterns, layer) || optional) continue;
        match_.missing.push_back({role, patterns.front().pattern,
                                  match_.prefix + with_layer(patterns.front().pattern, layer)});
        break;
      }
    }
    if (description_.spec.is_language_model() && qkv_lies_across()) {
      match_.refused = "queries, keys and values stored the other way round";
    }
    for (const auto& [name, what] : description_.refused) {
      if (!find(name).empty()) match_.refused = what;
    }
    return std::move(match_);
  }

 private:
  /// GPT-2 and minGPT have the same names, and their weights transposed.
  [[nodiscard]] bool qkv_lies_across() const {
    const auto source = match_.sources.find("layer.0.qkv.weight");
    if (source == match_.sources.end()) return false;
    const Shape& shape = checkpoint_.at(source->second.tensor).shape;
    const bool in_out = shape.size() == 2 && shape[1] == 3 * shape[0];
    const bool out_in = shape.size() == 2 && shape[0] == 3 * shape[1];
    return source->second.transposed ? out_in : in_out;
  }

  /// The tensor of that name under the prefix, or under an outer one; empty if none.
  [[nodiscard]] std::string find(const std::string& name) const {
    for (const std::string& prefix : prefixes_) {
      if (checkpoint_.find(prefix + name)) return prefix + name;
    }
    return {};
  }

  bool take(const std::string& role, const std::vector<TensorPattern>& patterns,
            std::int64_t layer) {
    for (const TensorPattern& pattern : patterns) {
      std::string tensor = find(with_layer(pattern.pattern, layer));
      if (tensor.empty()) continue;
      std::string key = role;
      if (role.starts_with("layer.")) key = "layer." + std::to_string(layer) + role.substr(5);
      match_.sources[key] = {std::move(tensor), pattern.transposed};
      return true;
    }
    return false;
  }

  /// One more than the last layer of which anything required is there.
  [[nodiscard]] std::int64_t count_layers() const {
    std::int64_t layers = 0;
    for (const auto& [role, patterns] : description_.tensors) {
      if (!role.starts_with("layer.")) continue;
      for (const TensorPattern& pattern : patterns) {
        if (pattern.optional) continue;
        constexpr std::int64_t gap = 64;  // a hole this long in the numbering is the end
        for (std::int64_t layer = 0; layer < std::min(layers + gap, kMostLayers); ++layer) {
          if (layer >= layers && !find(with_layer(pattern.pattern, layer)).empty()) {
            layers = layer + 1;
          }
        }
      }
    }
    return layers;
  }

  const ArchitectureDescription& description_;
  const Checkpoint& checkpoint_;
  std::vector<std::string> prefixes_;
  ArchitectureMatch match_;
};

/// Complete before incomplete, then fewer missing, then more tensors with a role.
bool better(const ArchitectureMatch& a, const ArchitectureMatch& b) {
  if (a.complete() != b.complete()) return a.complete();
  if (a.missing.size() != b.missing.size()) return a.missing.size() < b.missing.size();
  return a.sources.size() > b.sources.size();
}

}  // namespace

ArchitectureMatch match_architecture(const ArchitectureDescription& description,
                                     const Checkpoint& checkpoint) {
  ArchitectureMatch best;
  for (const std::string& prefix : prefixes(checkpoint)) {
    ArchitectureMatch match = Matcher(description, checkpoint, prefix).match();
    if (!best.description || better(match, best)) best = std::move(match);
  }
  return best;
}

}  // namespace attnscope
