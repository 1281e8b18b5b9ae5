// Kinds of configurations as data: the keys of each, their effect, and the defaults of its class.
// The file of a family (assets/architectures) has its kinds under "configuration", and
// assets/configuration.json has keys that kinds share.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

class ConfigReader;
struct NeighbourConfig;

/// Effect of a key on the model.
enum class KeyUse {
  member,    ///< a number for a member of the spec
  optional,  ///< a number, or null if it follows from other keys
  cap,       ///< a number, or null for no cap
  fact,      ///< a number that the tensors' shapes show too
  side,      ///< one or two numbers of pixels that the shapes show too: MEMBER_height, MEMBER_width
  activation,  ///< a name for the member activation
  required,    ///< refused unless it has the given value, as JSON
  harmless
};

struct ConfigKey {
  std::string name;  ///< key, with * for any characters
  KeyUse use = KeyUse::harmless;
  std::string what = {};  ///< member of the spec, or required value
};

/// Members of ModelSpec with their values, as apply_override takes them.
using MemberValues = std::map<std::string, std::string>;

/// Key that is true or false, and sets members.
struct ConfigFlag {
  std::string key;
  bool usual = false;              ///< value of a missing key
  MemberValues values[2];          ///< members if it is false, and if it is true
  std::vector<std::string> facts;  ///< members among these that the tensors show too
};

/// Reads settings that depend on more than one key.
using ConfigRule = void (*)(ConfigReader& reader, NeighbourConfig& config);

/// Keys that a kind uses for rope_theta and partial_rotary_factor.
struct RotaryKeys {
  std::string theta = "rope_theta";
  /// Fraction of a head's channels that are rotated; empty: always all.
  std::optional<std::string> part = {};
};

/// Keys of models that mix layers with and without windows, each kind with its own rotary
/// positions.
struct LocalLayers {
  std::string theta;        ///< key of θ in layers without windows
  std::string local_theta;  ///< key of θ in layers with windows
  std::string every;     ///< key of the period of layers without windows, if layer_types is missing
  std::string window;    ///< key of the window in tokens
  int least_window = 1;  ///< smallest valid window
  bool first_is_local = true;  ///< true: the last layer of each `every` has no window; false: the
                               ///< first
  bool scales = true;          ///< rope_scaling applies to layers without windows
};

struct ConfigKind {
  /// model_type of transformers: "llama"; of other libraries with their name, and * for any
  /// characters: "timm/swin_*".
  std::string name;
  std::vector<std::string> families;  ///< ids of the possible families, the usual one first
  MemberValues set;                   ///< members of every such model, unless a key differs
  std::vector<std::string> tensors;  ///< tensors of the first block that tell it from others (GGUF)
  std::vector<ConfigKey> keys;       ///< the first that matches counts
  std::vector<ConfigFlag> flags;
  bool has_head = true;  ///< false: labels, classes and read-out are of parts that are not run
  /// Keys with the configuration of a tower (CLIP's vision_config) → kind of the tower; "KIND|*":
  /// any kind, KIND if the configuration gives none. "KEY?": without KEY the tower has all keys
  /// that no other part of the configuration has.
  std::vector<std::pair<std::string, std::string>> towers;
  std::vector<ConfigRule> rules;
  std::optional<LocalLayers> local_layers;  ///< takes precedence over `rotary`
  std::optional<RotaryKeys> rotary;
  /// Patterns of a timm architecture → its members; the first that matches gives each.
  std::vector<std::pair<std::string, MemberValues>> by_name;
  /// Patterns of timm's architectures that are not supported → the reason.
  std::vector<std::pair<std::string, std::string>> refused;
  /// Defaults of its configuration class for missing keys. A key with | has several names, of which
  /// a configuration has one; if it has none, the first is set. Sizes are omitted, since the
  /// tensors show them. Null: none.
  std::shared_ptr<const nlohmann::json> defaults;
};

/// Kinds in a JSON object: name → kind. A name with | has several kinds that differ only in it.
/// "like" names a kind that is taken over except for families and defaults. Kinds without
/// "families" are of `family`. Throws Error(damaged) naming the place for an unknown key, member,
/// rule or kind.
[[nodiscard]] std::vector<ConfigKind> parse_config_kinds(std::string_view json_text,
                                                         const std::string& family);

/// All built-in kinds: those of assets/configuration.json, then those of the families in order.
[[nodiscard]] const std::vector<ConfigKind>& config_kinds();
/// Kind of exactly this name; null if there is none.
[[nodiscard]] const ConfigKind* find_config_kind(std::string_view name);
/// Built-in kind of this name, which the program itself needs. Throws Error(unsupported) if there
/// is none.
[[nodiscard]] const ConfigKind& config_kind(std::string_view name);

/// Parts of a known kind that is not supported, by the key that names it (model_type, timm's
/// architecture): "a mixture of experts", or empty text. Empty for an unknown kind.
[[nodiscard]] std::optional<std::string> unsupported_kind(std::string_view key,
                                                          std::string_view name);

/// Rule that the data name; null if there is none.
[[nodiscard]] ConfigRule find_config_rule(std::string_view name);
[[nodiscard]] std::string config_rule_names();

/// `object` with the defaults of `kind` for missing keys.
[[nodiscard]] nlohmann::json with_class_defaults(const nlohmann::json& object,
                                                 const ConfigKind& kind);

}  // namespace attnscope
