#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/architecture/configuration/config_kind.h"
#include "core/architecture/configuration/neighbour_config.h"
#include "core/checkpoint/key_values.h"
#include "core/error.h"
#include "core/text/pattern.h"

namespace attnscope {

namespace {

using nlohmann::json;

/// Kinds of this prefix have the settings of one value of general.architecture that no key gives,
/// as in llama.cpp: the form of rotary positions (pair: the rows of queries and keys were permuted
/// for it, unless they come from latents), the activation, input.scale (0: √width), the period of
/// layers without windows, and tensors that change the computation.
constexpr std::string_view kGgufPrefix = "gguf/";

const ConfigKind& architecture_of(const KeyValues& keys) {
  const std::string name = keys.text("general.architecture").value_or("");
  if (const ConfigKind* const known = find_config_kind(std::string(kGgufPrefix) + name)) {
    return *known;
  }
  std::string names;
  for (const ConfigKind& kind : config_kinds()) {
    if (!kind.name.starts_with(kGgufPrefix)) continue;
    names += (names.empty() ? "" : ", ") + kind.name.substr(kGgufPrefix.size());
  }
  throw Error(ErrorKind::unsupported, "models of this architecture are not supported")
      .about("general.architecture")
      .expected(names)
      .found(name.empty() ? "nothing" : name)
      .remedy("give an architecture description");
}

bool has_part(const ConfigKind& kind, std::string_view tensor) {
  return std::ranges::find(kind.tensors, tensor) != kind.tensors.end();
}

/// Keys of one architecture. The keys that are never requested are unknown.
class GgufKeys {
 public:
  GgufKeys(const KeyValues& keys, std::string prefix, std::span<const std::string> ignored)
      : keys_(keys), prefix_(std::move(prefix)), ignored_(ignored) {}

  [[nodiscard]] std::string name(std::string_view key) const { return prefix_ + std::string(key); }

  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view key) {
    return take(key) ? keys_.whole(name(key)) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> number(std::string_view key) {
    return take(key) ? keys_.number(name(key)) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::string> text(std::string_view key) {
    return take(key) ? keys_.text(name(key)) : std::nullopt;
  }
  [[nodiscard]] std::optional<bool> truth(std::string_view key) {
    return take(key) ? keys_.truth(name(key)) : std::nullopt;
  }

  /// Value of a required key. Throws Error(damaged) if it is missing.
  template <class T>
  [[nodiscard]] T required(std::string_view key, std::optional<T> value) const {
    if (value) return *value;
    throw Error(ErrorKind::damaged, "the file lacks a key of its architecture").about(name(key));
  }
  [[nodiscard]] std::int64_t required_whole(std::string_view key) {
    return required(key, whole(key));
  }
  [[nodiscard]] double required_number(std::string_view key) { return required(key, number(key)); }
  /// Throws Error(unsupported) unless the key is missing or `holds`.
  void check(std::string_view key, bool holds, std::string expected) const {
    if (holds || !keys_.contains(name(key)) || ignores(name(key))) return;
    throw Error(ErrorKind::unsupported, "the value in the file is not supported")
        .about(name(key))
        .expected(std::move(expected))
        .found(keys_.shown(name(key)))
        .remedy("--option ignore=config." + name(key) + " if it does not change the computation");
  }

  void finish(NeighbourConfig& config) const {
    for (const std::string& key : keys_.keys()) {
      if (!key.starts_with(prefix_) || taken_.contains(key) || ignores(key)) continue;
      config.unknown.emplace_back(key, keys_.shown(key));
    }
  }

 private:
  [[nodiscard]] bool ignores(const std::string& key) const {
    return std::any_of(ignored_.begin(), ignored_.end(), [&](const std::string& pattern) {
      return matches_pattern(pattern, "config." + key);
    });
  }

  /// Marks a key as taken. Returns false if the user ignores it.
  bool take(std::string_view key) {
    taken_.insert(name(key));
    return !ignores(name(key));
  }

  const KeyValues& keys_;
  std::string prefix_;
  std::span<const std::string> ignored_;
  std::set<std::string, std::less<>> taken_;
};

class GgufReader {
 public:
  GgufReader(const ConfigKind& of, GgufKeys keys, NeighbourConfig& config)
      : of_(of), keys_(std::move(keys)), config_(config) {}

  void read() {
    for (const auto& [member, value] : of_.set) set(member, value);
    read_own_keys();
    read_extents();
    read_rotary();
    read_windows();
    read_scale();
    keys_.check("attention.causal", keys_.truth("attention.causal").value_or(true), "true");
    set("norm_eps", json(keys_.required_number("attention.layer_norm_rms_epsilon")));
    (void)keys_.whole("vocab_size");  // the tensors give it
    (void)keys_.text("tensor_data_layout");
    keys_.check("tensor_data_layout", keys_.text("tensor_data_layout") == "Meta AI original pth",
                "Meta AI original pth");
    read_experts();
    keys_.finish(config_);
  }

 private:
  void set(const std::string& member, const json& value) {
    config_.values[member] = value.is_string() ? value.get<std::string>() : value.dump();
    config_.facts.insert(member);
  }

  void take_whole(std::string_view key, const std::string& member) {
    if (const auto value = keys_.whole(key)) set(member, json(*value));
  }

  /// Reads the keys that the kind lists: whole numbers or numbers, caps, which must be there, and
  /// flags.
  void read_own_keys() {
    for (const ConfigKey& key : of_.keys) {
      if (key.use == KeyUse::fact) {
        take_whole(key.name, key.what);
      } else if (key.use == KeyUse::cap) {
        set(key.what, json(keys_.required_number(key.name)));
      } else if (const auto value = keys_.number(key.name)) {
        set(key.what, json(*value));
      }
    }
    for (const ConfigFlag& flag : of_.flags) {
      const bool truth = keys_.truth(flag.key).value_or(flag.usual);
      for (const auto& [member, value] : flag.values[truth ? 1 : 0]) set(member, value);
    }
  }

  void read_extents() {
    take_whole("context_length", "context");
    take_whole("embedding_length", "width");
    take_whole("block_count", "layers");
    take_whole("feed_forward_length", "mlp_width");
    set("heads", json(keys_.required_whole("attention.head_count")));
    if (has_latents()) return read_latent_heads();
    take_whole("attention.head_count_kv", "layer.attention.key_heads");
    take_whole("attention.key_length", "head_width");
    const auto values = keys_.whole("attention.value_length");
    keys_.check("attention.value_length", values == keys_.whole("attention.key_length"),
                "as attention.key_length");
  }

  [[nodiscard]] bool has_latents() {
    return config_.values.contains("layer.attention.latent_width");
  }

  /// Reads the widths of heads whose keys and values come from a latent. Files that hold the
  /// matrices of keys and values apart give the width of the latent, which llama.cpp attends to, as
  /// key_length, and that of the heads as key_length_mla.
  void read_latent_heads() {
    (void)keys_.whole("attention.head_count_kv");
    for (const auto& [key, member] : {std::pair("attention.key_length", "head_width"),
                                      {"attention.value_length", "layer.attention.value_width"}}) {
      const auto one = keys_.whole(key), of_heads = keys_.whole(std::string(key) + "_mla");
      set(member, json(keys_.required(key, of_heads ? of_heads : one)));
    }
  }

  /// Reads the number of experts, whose width may be their own, and of layers without them.
  void read_experts() {
    const auto experts = keys_.whole("expert_count"), active = keys_.whole("expert_used_count");
    const bool mixes = experts.value_or(0) > 0;
    config_.families = of_.families;
    if (!mixes) {
      keys_.check("expert_used_count", active == 0, "0, as expert_count");
      return;
    }
    keys_.check("expert_count", of_.set.contains("layer.mlp.sums_to_one"),
                "0: no mixture of experts");
    if (of_.families.front() == kGgufFamily) config_.families = {std::string(kGgufMixture)};
    set("layer.mlp.experts", json(*experts));
    set("layer.mlp.active_experts", json(keys_.required("expert_used_count", active)));
    take_whole("expert_feed_forward_length", "mlp_width");
    read_shared_experts();
    read_scores_of_experts();
  }

  /// Reads the MLP of all tokens and the layers before the first mixture, which have one MLP.
  void read_shared_experts() {
    if (!of_.set.contains("layer.mlp.expert_scale")) return;
    set("layer.mlp.shared_width", json(keys_.required_whole("expert_shared_count") *
                                       keys_.required_whole("expert_feed_forward_length")));
    json plain = json::array();
    const auto first = keys_.whole("leading_dense_block_count").value_or(0);
    const std::int64_t count = std::min(first, layers());
    for (std::int64_t layer = 0; layer < count; ++layer) plain.push_back(layer);
    if (plain.empty()) return;
    const auto wide = keys_.required_whole("feed_forward_length");
    add_difference({{"layers", plain}, {"mlp", {{"experts", 0}, {"width", wide}}}});
  }

  /// Reads how a router's logits become weights: a file without the key has softmax.
  void read_scores_of_experts() {
    if (!of_.set.contains("layer.mlp.expert_score")) return;
    constexpr const char* key = "expert_gating_func";
    const std::int64_t function = keys_.whole(key).value_or(1);
    keys_.check(key, function == 1 || function == 2, "1 (softmax) or 2 (sigmoid)");
    if (function != 2) return;
    set("layer.mlp.expert_score", "sigmoid");
    set("layer.mlp.group_best", 2);
  }

  /// Number of layers, at most as many as a list of them may have. Throws Error(damaged).
  [[nodiscard]] std::int64_t layers() {
    constexpr const char* key = "block_count";
    const auto count = keys_.required_whole(key);
    if (count > 0 && count <= 4096) return count;
    throw Error(ErrorKind::damaged, "the number of layers is out of range")
        .about(keys_.name(key))
        .expected("1 to 4096")
        .found(std::to_string(count));
  }

  void add_difference(json difference) {
    const auto others = config_.values.find("differences");
    json list = others == config_.values.end() ? json::array() : json::parse(others->second);
    list.push_back(std::move(difference));
    set("differences", list);
  }

  void read_rotary() {
    if (const auto base = keys_.number("rope.freq_base")) set("layer.rotary.theta", json(*base));
    take_whole("rope.dimension_count", "layer.rotary.width");
    if (config_.values["layer.rotary.form"] == "pair" && !has_latents()) check_all_turned();
    const auto factor = keys_.number("rope.scaling.factor"),
               old = keys_.number("rope.scale_linear");
    std::string type = keys_.text("rope.scaling.type").value_or(factor || old ? "linear" : "none");
    keys_.check("rope.scaling.type", type == "none" || type == "linear" || type == "yarn",
                "none, linear or yarn");
    const double by = factor.value_or(old.value_or(1));
    if (by == 1 && type == "linear") type = "none";
    (void)keys_.truth("rope.scaling.finetuned");
    for (const char* const one : {"attn_factor", "yarn_ext_factor", "yarn_attn_factor"}) {
      const std::string key = "rope.scaling." + std::string(one);
      keys_.check(key, keys_.number(key) == 1.0, "1");
    }
    const auto by_logarithm = keys_.number("rope.scaling.yarn_log_multiplier");
    keys_.check("rope.scaling.yarn_log_multiplier", has_latents() || by_logarithm == 0.0, "0");
    const auto trained = keys_.whole("rope.scaling.original_context_length");
    const auto fast = keys_.number("rope.scaling.yarn_beta_fast");
    const auto slow = keys_.number("rope.scaling.yarn_beta_slow");
    if (type == "none") return;
    set("layer.rotary.scaling", type);
    set("layer.rotary.factor", json(by));
    if (type != "yarn") return;
    set("layer.rotary.trained_context",
        json(keys_.required("context_length", trained ? trained : keys_.whole("context_length"))));
    if (fast) set("layer.rotary.beta_fast", json(*fast));
    if (slow) set("layer.rotary.beta_slow", json(*slow));
    if (has_latents()) {
      scale_scores(by, keys_.required("rope.scaling.yarn_log_multiplier", by_logarithm));
    }
  }

  /// Sets the scale of scores whose queries and keys YaRN's factor does not scale: (1 + c ln
  /// f)²/√d, where c is 0.1 mscale_all_dim. No key gives mscale, which is the same in all published
  /// models.
  void scale_scores(double factor, double multiplier) {
    set("layer.rotary.attention_factor", 1);
    const double amplitude = 1 + multiplier * std::log(factor);
    const double width = std::stod(config_.values["head_width"]);
    set("scale", json(amplitude * amplitude / std::sqrt(width)));
  }

  /// Checks that a whole head is rotated, which the permutation of its rows assumes.
  void check_all_turned() {
    const auto turned = keys_.whole("rope.dimension_count"),
               width = keys_.whole("embedding_length");
    const auto heads = keys_.whole("attention.head_count");
    auto each = keys_.whole("attention.key_length");
    if (!each && width && heads.value_or(0) > 0) each = *width / *heads;
    keys_.check("rope.dimension_count", turned == each, "a head's width");
  }

  /// Reads the layers with windows, in architectures that have them: all but the last of each
  /// period. They may have positions of their own, which are not stretched.
  void read_windows() {
    constexpr const char* period = "attention.sliding_window_pattern";
    constexpr const char* local_theta = "rope.freq_base_swa";
    constexpr const char* window = "attention.sliding_window";
    const json usual = of_.defaults ? *of_.defaults : json::object();
    if (!usual.contains(period)) return;
    const auto every = keys_.whole(period).value_or(usual[period].get<std::int64_t>());
    keys_.check(period, every > 0, "1 or more");
    json layers_with_windows = json::array();
    const std::int64_t count = layers();
    for (std::int64_t layer = 0; layer < count; ++layer) {
      if (every > 0 && (layer + 1) % every != 0) layers_with_windows.push_back(layer);
    }
    json difference = {{"layers", layers_with_windows},
                       {"scores", {{"window", keys_.required_whole(window)}}}};
    if (usual.contains(local_theta)) {
      const double theta = keys_.number(local_theta).value_or(usual[local_theta].get<double>());
      difference["rotary"] = {{"theta", theta}, {"scaling", "none"}};
    }
    if (!layers_with_windows.empty()) add_difference(std::move(difference));
  }

  /// Reads Gemma's scale of scores. In the models of 27 B, the only ones with so many layers, they
  /// are divided by √(width / heads), as in llama.cpp. No key gives this.
  void read_scale() {
    const std::int64_t of_27b = config_.kind == "gemma2" ? 46 : config_.kind == "gemma3" ? 62 : 0;
    if (of_27b == 0) return;
    const std::int64_t heads = keys_.required_whole("attention.head_count");
    if (layers() != of_27b || heads <= 0) return;
    const std::int64_t width = keys_.whole("embedding_length").value_or(0) / heads;
    set("scale", json(1 / std::sqrt(static_cast<double>(width))));
  }

  const ConfigKind& of_;
  GgufKeys keys_;
  NeighbourConfig& config_;
};

/// Throws if tensors that change the computation do not match the architecture.
void check_tensors(const Checkpoint& checkpoint, const ConfigKind& of, const std::string& kind) {
  for (const std::string part : {"attn_q_norm", "attn_k_norm", "post_attention_norm",
                                 "post_ffw_norm", "attn_sinks", "attn_kv_a_norm"}) {
    const std::string name = "blk.0." + part + ".weight";
    const bool wanted = has_part(of, part);
    if ((checkpoint.find(name) != nullptr) == wanted) continue;
    throw Error(ErrorKind::unsupported,
                wanted ? "the file lacks a tensor of its architecture"
                       : "the file has a tensor that its architecture does not have")
        .about(name)
        .expected(kind + (wanted ? " with it" : " without it"));
  }
}

/// The families of all kinds, any of which a file may be whose keys are ignored.
std::vector<std::string> gguf_families() {
  std::vector<std::string> families = {std::string(kGgufMixture)};
  for (const ConfigKind& kind : config_kinds()) {
    if (!kind.name.starts_with(kGgufPrefix)) continue;
    if (std::ranges::find(families, kind.families.front()) != families.end()) continue;
    families.push_back(kind.families.front());
  }
  return families;
}

/// Throws if the file is not a model, but an adapter or a projector.
void check_type(const KeyValues& keys) {
  const std::string type = keys.text("general.type").value_or("model");
  if (type == "model") return;
  throw Error(ErrorKind::unsupported, "the file does not hold a model")
      .about("general.type")
      .expected("model")
      .found(type);
}

}  // namespace

NeighbourConfig gguf_config(const Checkpoint& checkpoint, std::span<const std::string> ignored) {
  NeighbourConfig config;
  config.families = gguf_families();
  if (std::find(ignored.begin(), ignored.end(), "config") != ignored.end()) return config;
  config.file = checkpoint.path();
  const KeyValues& keys = *checkpoint.key_values();
  try {
    check_type(keys);
    const ConfigKind& architecture = architecture_of(keys);
    config.kind = architecture.name.substr(kGgufPrefix.size());
    GgufReader(architecture, GgufKeys(keys, config.kind + ".", ignored), config).read();
    check_tensors(checkpoint, architecture, config.kind);
  } catch (Error& error) {
    if (error.file().empty()) error.in_file(checkpoint.path());
    throw;
  }
  return config;
}

}  // namespace attnscope
