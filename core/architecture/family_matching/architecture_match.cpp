#include "core/architecture/family_matching/architecture_match.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/architecture/family_matching/tail_roles.h"

namespace attnscope {

namespace {

constexpr std::int64_t kMostLayers = 4096;
constexpr std::string_view kHead = "{head}", kExpert = "{expert}";
constexpr std::string_view kStageBefore = "{stage-1}";

/// Prefixes that wrappers put before the names of the model inside them.
constexpr std::array kWrappers = std::to_array<std::string_view>({"module.",
                                                                  "model.",
                                                                  "backbone.",
                                                                  "encoder.",
                                                                  "transformer_encoder.",
                                                                  "image_encoder.",
                                                                  "vision_encoder.",
                                                                  "vit.",
                                                                  "deit.",
                                                                  "net.",
                                                                  "network.",
                                                                  "_orig_mod.",
                                                                  "transformer.",
                                                                  "student.",
                                                                  "teacher.",
                                                                  "base_model.",
                                                                  "visual.",
                                                                  "trunk.",
                                                                  "text.",
                                                                  "beit.",
                                                                  "swin.",
                                                                  "data2vec_vision.",
                                                                  "dinov2.",
                                                                  "dinov2_with_registers.",
                                                                  "ema.",
                                                                  "ema_model.",
                                                                  "model_ema.",
                                                                  "state_dict.",
                                                                  "target_encoder.",
                                                                  "bert.",
                                                                  "gpt_neox.",
                                                                  "params/",
                                                                  "opt/target/",
                                                                  "img/"});

/// Prefixes of tensors that consist of wrappers and of `own`; "" first, then by length.
std::vector<std::string> prefixes(const Checkpoint& checkpoint,
                                  const std::vector<std::string>& own) {
  std::vector<std::string_view> wrappers(kWrappers.begin(), kWrappers.end());
  wrappers.insert(wrappers.end(), own.begin(), own.end());
  std::set<std::string> found = {""};
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    std::size_t end = 0;
    for (int depth = 0; depth < 4 && found.size() < 64; ++depth) {
      const std::string_view rest = std::string_view(tensor.name).substr(end);
      const auto wrapper = std::find_if(wrappers.begin(), wrappers.end(),
                                        [&](auto name) { return rest.starts_with(name); });
      if (wrapper == wrappers.end()) break;
      end += wrapper->size();
      found.insert(tensor.name.substr(0, end));
    }
  }
  std::vector<std::string> list(found.begin(), found.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return list;
}

/// Block that a pattern names; for a pattern of a stage, the first block.
struct Place {
  std::int64_t layer = 0;
  std::int64_t stage = 0;  ///< index from 0
  std::int64_t block = 0;  ///< index within its stage
};

std::string filled(std::string pattern, std::string_view placeholder, std::int64_t number) {
  for (std::size_t at = pattern.find(placeholder); at != std::string::npos;
       at = pattern.find(placeholder, at)) {
    pattern.replace(at, placeholder.size(), std::to_string(number));
  }
  return pattern;
}

bool names_stage(const TensorPattern& pattern) {
  return pattern.pattern.find("{stage}") != std::string::npos ||
         pattern.pattern.find(kStageBefore) != std::string::npos;
}

class Matcher {
 public:
  Matcher(const ArchitectureDescription& description, const Checkpoint& checkpoint,
          const std::string& prefix)
      : description_(description), checkpoint_(checkpoint) {
    match_.description = &description;
    match_.prefix = prefix;
    // Heads are often outside the prefix of the other tensors: "vit.layernorm", but "classifier".
    for (std::string outer = prefix;;) {
      prefixes_.push_back(outer);
      if (outer.empty()) break;
      const std::size_t dot = outer.find_last_of("./", outer.size() - 2);
      outer = dot == std::string::npos ? "" : outer.substr(0, dot + 1);
    }
  }

  ArchitectureMatch match() {
    const bool pyramid = description_.spec.is_pyramid();
    if (pyramid) {
      match_.depths = count_blocks();
      for (const std::int64_t depth : match_.depths) match_.layers += depth;
    } else {
      match_.layers = count_layers("layer.");
    }
    const std::vector<Place> layers = pyramid ? all_blocks() : all_layers(match_.layers);
    const TailSpec& tail = description_.spec.tail;
    if (tail.kind != Tail::none) {
      first_of_tail_ = match_.layers;
      match_.tail_blocks = count_layers(tail.kind == Tail::decoder ? "decoder." : "tail.");
      match_.layers += match_.tail_blocks * tail.layers_of_block();
    }
    for (const auto& [role, patterns] : description_.tensors) {
      const bool optional = std::any_of(patterns.begin(), patterns.end(),
                                        [](const TensorPattern& p) { return p.optional; });
      if (!optional) ++match_.required;
      std::vector<Place> places = {Place{}};
      if (role.starts_with("layer.")) places = layers;
      if (tail_role(role)) places = all_layers(match_.tail_blocks);
      if (role.starts_with("stage.")) places = all_stages();
      for (const Place& place : places) {
        if (take(role, patterns, place) || optional) continue;
        const std::string& lacking = lacking_in(patterns.front(), place);
        match_.missing.push_back(
            {role, lacking, match_.prefix + counted_name(name_at(lacking, place), 0)});
        break;
      }
    }
    if (description_.spec.reads_texts() && qkv_lies_across()) {
      match_.refused = "queries, keys and values stored the other way round";
    }
    for (const auto& [name, what] : description_.refused) {
      if (!find(name).empty()) match_.refused = what;
    }
    return std::move(match_);
  }

 private:
  /// True if the fused weight is stored the other way round: GPT-2 and minGPT have the same names,
  /// but transposed weights.
  [[nodiscard]] bool qkv_lies_across() const {
    const auto source = match_.sources.find("layer.0.qkv.weight");
    if (source == match_.sources.end()) return false;
    if (!source->second.axes.empty()) return false;
    const Shape& shape = checkpoint_.at(source->second.tensor).shape;
    const bool in_out = shape.size() == 2 && shape[1] == 3 * shape[0];
    const bool out_in = shape.size() == 2 && shape[0] == 3 * shape[1];
    return source->second.transposed ? out_in : in_out;
  }

  /// Name of the tensor under the prefix, or under an outer prefix unless it belongs to a layer,
  /// which may be another model's there (CLIP); empty if there is none.
  [[nodiscard]] std::string find(const std::string& name, bool of_layer = false) const {
    for (const std::string& prefix : prefixes_) {
      if (const StoredTensor* tensor = checkpoint_.find(prefix + name)) return tensor->name;
      if (of_layer) break;
    }
    return {};
  }

  [[nodiscard]] std::string name_of(const TensorPattern& pattern, const Place& place) const {
    return name_at(pattern.pattern, place);
  }

  [[nodiscard]] std::string name_at(const std::string& pattern, const Place& place) const {
    std::string name = filled(pattern, "{layer}", place.layer);
    name = filled(std::move(name), "{stage}", description_.first_stage + place.stage);
    name = filled(std::move(name), kStageBefore, description_.first_stage + place.stage - 1);
    return filled(std::move(name), "{block}", place.block);
  }

  /// Placeholder in a name for numbered tensors that are concatenated; empty if there is none.
  [[nodiscard]] static std::string_view counted_in(const std::string& name) {
    for (const std::string_view counted : {kHead, kExpert}) {
      if (name.find(counted) != std::string::npos) return counted;
    }
    return {};
  }

  /// `name` with `number` for the placeholder of numbered tensors, if it has one.
  [[nodiscard]] static std::string counted_name(const std::string& name, std::int64_t number) {
    const std::string_view counted = counted_in(name);
    return counted.empty() ? name : filled(name, counted, number);
  }

  /// Source that the pattern names at that place; without a tensor if there is none.
  [[nodiscard]] TensorSource source_of(const TensorPattern& pattern, const Place& place) const {
    TensorSource source;
    source.transposed = pattern.transposed;
    source.shape = pattern.shape;
    source.axes = pattern.axes;
    source.rows = pattern.rows;
    if (pattern.of_all_layers) source.slice = place.layer;
    const std::string name = name_of(pattern, place);
    const bool of_layer = pattern.pattern.find("{layer}") != std::string::npos;
    source.tensor = find(counted_name(name, 0), of_layer);
    source.counted = !counted_in(name).empty();
    for (std::int64_t number = 1; source.counted && !source.tensor.empty(); ++number) {
      std::string further = find(counted_name(name, number), of_layer);
      if (further.empty()) break;
      source.pieces.push_back(std::move(further));
    }
    for (const std::string& joined : pattern.joined) {
      std::string further = find(name_at(joined, place), of_layer);
      if (further.empty()) source.tensor.clear();  // an incomplete join counts as missing
      source.pieces.push_back(std::move(further));
    }
    return source;
  }

  /// Part of a pattern without a source: the first joined pattern that names no tensor.
  [[nodiscard]] const std::string& lacking_in(const TensorPattern& pattern,
                                              const Place& place) const {
    const auto found = std::ranges::find_if(pattern.joined, [&](const std::string& joined) {
      return find(name_at(joined, place)).empty();
    });
    const bool first = find(counted_name(name_of(pattern, place), 0)).empty();
    return first || found == pattern.joined.end() ? pattern.pattern : *found;
  }

  bool take(const std::string& role, const std::vector<TensorPattern>& patterns,
            const Place& place) {
    const bool of_stage = role.starts_with("stage.");
    for (const TensorPattern& pattern : patterns) {
      if (of_stage && place.stage > 0 && !names_stage(pattern)) continue;
      TensorSource source = source_of(pattern, place);
      if (source.tensor.empty()) continue;
      std::string key = role;
      if (const auto tail = tail_role(role)) {
        const std::int64_t layer = first_of_tail_ + place.layer * tail->block_size + tail->place;
        key = "layer." + std::to_string(layer) + "." + tail->name;
      }
      if (role.starts_with("layer.")) key = "layer." + std::to_string(place.layer) + role.substr(5);
      if (of_stage) key = "stage." + std::to_string(place.stage) + role.substr(5);
      match_.sources[key] = std::move(source);
      return true;
    }
    return false;
  }

  // A match without any layer asks for layer 0, which the error then names as missing.

  [[nodiscard]] static std::vector<Place> all_layers(std::int64_t count) {
    std::vector<Place> places = {Place{}};
    for (std::int64_t layer = 1; layer < count; ++layer) places.push_back({layer, 0, layer});
    return places;
  }

  [[nodiscard]] std::vector<Place> all_blocks() const {
    std::vector<Place> places;
    for (std::int64_t stage = 0; stage < std::ssize(match_.depths); ++stage) {
      for (std::int64_t block = 0; block < match_.depths[static_cast<std::size_t>(stage)];
           ++block) {
        places.push_back({std::ssize(places), stage, block});
      }
    }
    if (places.empty()) places.emplace_back();
    return places;
  }

  [[nodiscard]] std::vector<Place> all_stages() const {
    std::vector<Place> places = {Place{}};
    for (std::int64_t stage = 1; stage < std::ssize(match_.depths); ++stage) {
      places.push_back({0, stage, 0});
    }
    return places;
  }

  /// Number of blocks per stage: one more than the last block that has a required tensor. A stage
  /// without blocks between others counts as 1, so its tensors are reported as missing.
  [[nodiscard]] std::vector<std::int64_t> count_blocks() const {
    constexpr std::int64_t most_stages = 16, gap = 16;
    std::vector<std::int64_t> depths;
    for (std::int64_t stage = 0; stage < most_stages; ++stage) {
      std::int64_t blocks = 0;
      for (std::int64_t block = 0; block < std::min(blocks + gap, kMostLayers); ++block) {
        if (has_block({0, stage, block})) blocks = block + 1;
      }
      if (blocks == 0) continue;
      depths.resize(static_cast<std::size_t>(stage), 1);
      depths.push_back(blocks);
    }
    return depths;
  }

  [[nodiscard]] bool has_block(const Place& place) const {
    for (const auto& [role, patterns] : description_.tensors) {
      if (!role.starts_with("layer.")) continue;
      for (const TensorPattern& pattern : patterns) {
        if (!pattern.optional && !source_of(pattern, place).tensor.empty()) return true;
      }
    }
    return false;
  }

  /// Number of layers: one more than the last layer that has a required tensor with a role that
  /// starts with `beginning`.
  [[nodiscard]] std::int64_t count_layers(std::string_view beginning) const {
    std::int64_t layers = 0;
    for (const auto& [role, patterns] : description_.tensors) {
      if (!role.starts_with(beginning)) continue;
      for (const TensorPattern& pattern : patterns) {
        if (pattern.optional) continue;
        if (pattern.of_all_layers) {
          layers = std::max(layers, stacked_layers(pattern));
          continue;
        }
        constexpr std::int64_t gap = 64;  // the numbering ends at a gap of this length
        for (std::int64_t layer = 0; layer < std::min(layers + gap, kMostLayers); ++layer) {
          if (layer >= layers && !source_of(pattern, {layer, 0, layer}).tensor.empty()) {
            layers = layer + 1;
          }
        }
      }
    }
    return layers;
  }

  /// Length of the first axis of a tensor that stacks all layers.
  [[nodiscard]] std::int64_t stacked_layers(const TensorPattern& pattern) const {
    const std::string name = find(counted_name(pattern.pattern, 0));
    if (name.empty()) return 0;
    const Shape& shape = checkpoint_.at(name).shape;
    return shape.empty() ? 0 : std::min(shape.front(), kMostLayers);
  }

  const ArchitectureDescription& description_;
  const Checkpoint& checkpoint_;
  std::vector<std::string> prefixes_;
  std::int64_t first_of_tail_ = 0;
  ArchitectureMatch match_;
};

/// True if `a` is better: complete before incomplete, then fewer missing tensors, then the teacher
/// before the student, whose average it is, then more tensors with a role.
bool better(const ArchitectureMatch& a, const ArchitectureMatch& b) {
  if (a.complete() != b.complete()) return a.complete();
  if (a.missing.size() != b.missing.size()) return a.missing.size() < b.missing.size();
  const auto teaches = [](const ArchitectureMatch& match) {
    return match.prefix.find("teacher.") != std::string::npos;
  };
  if (a.complete() && teaches(a) != teaches(b)) return teaches(a);
  return a.sources.size() > b.sources.size();
}

}  // namespace

ArchitectureMatch match_architecture(const ArchitectureDescription& description,
                                     const Checkpoint& checkpoint, const std::string& state_dict,
                                     bool said) {
  std::vector<std::string> tried = prefixes(checkpoint, description.prefixes);
  if (!said && !description.prefixes.empty()) {
    std::erase_if(tried, [&](const std::string& prefix) {
      return std::none_of(description.prefixes.begin(), description.prefixes.end(),
                          [&](const auto& own) { return prefix.ends_with(own); });
    });
    // If no prefix matches, error messages name the first one.
    if (tried.empty()) tried = {description.prefixes.front()};
  }
  const auto asked = [&](const std::string& prefix) {
    return !state_dict.empty() && prefix.starts_with(state_dict + ".");
  };
  if (std::any_of(tried.begin(), tried.end(), asked)) {
    std::erase_if(tried, [&](const std::string& prefix) { return !asked(prefix); });
  }
  ArchitectureMatch best;
  std::vector<ArchitectureMatch> complete;
  for (const std::string& prefix : tried) {
    ArchitectureMatch match = Matcher(description, checkpoint, prefix).match();
    if (match.complete()) complete.push_back(match);
    if (!best.description || better(match, best)) best = std::move(match);
  }
  // A shorter prefix may find the same tensors as a longer one.
  std::set<std::string> seen;
  if (best.complete()) seen.insert(best.sources.begin()->second.tensor);
  for (const ArchitectureMatch& other : complete) {
    if (other.prefix.empty() || !seen.insert(other.sources.begin()->second.tensor).second) continue;
    best.alternatives.push_back(other.prefix.substr(0, other.prefix.size() - 1));
  }
  return best;
}

}  // namespace attnscope
