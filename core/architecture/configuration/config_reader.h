// The keys of a configuration, each taken once: what is left over is not known.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/architecture/configuration/neighbour_config.h"

namespace attnscope {

/// What a key does to the model.
enum class KeyUse {
  member,      ///< a number: a member of the spec
  optional,    ///< likewise, or null where it follows from the others
  cap,         ///< a number, or null for no cap: a member of the spec
  fact,        ///< a number that the tensors' shapes say too: a member of the spec
  side,        ///< a number or two of pixels that the shapes say too: MEMBER_height, MEMBER_width
  activation,  ///< a name: the member activation
  required,    ///< refused unless it has the value given, as JSON
  harmless
};

struct ConfigKey {
  std::string_view name;  ///< with * for any characters
  KeyUse use = KeyUse::harmless;
  std::string_view what = {};  ///< the member, or the value required
};

/// Takes the keys of one JSON object into a NeighbourConfig.
class ConfigReader {
 public:
  ConfigReader(const nlohmann::json& object, NeighbourConfig& config)
      : object_(object), config_(config) {}

  /// Takes every key of `keys` that is there. Throws Error(unsupported) for a value that is not
  /// run.
  void take(std::span<const ConfigKey> keys);
  /// Whether `key` is there, be it null.
  [[nodiscard]] bool has(const std::string& key) const { return object_.contains(key); }
  /// What stands under `key`, which counts as taken; null if it is not there.
  [[nodiscard]] const nlohmann::json& take_value(const std::string& key);
  /// true or false under `key`, which counts as taken; `usual` if it is not there. Null is false,
  /// as Python has it, and damaged where true is usual: none of upstream's code means it. Throws
  /// Error(damaged).
  [[nodiscard]] bool flag(const std::string& key, bool usual);
  /// What was not taken and is not off (null, false, 0, empty) is not known.
  void finish(const std::string& prefix = "");

 private:
  void take_one(const ConfigKey& key, const std::string& name, const nlohmann::json& value);
  [[nodiscard]] bool says_under_another_name(const ConfigKey& key,
                                             std::span<const ConfigKey> keys) const;

  const nlohmann::json& object_;
  NeighbourConfig& config_;
  std::set<std::string, std::less<>> taken_;
};

/// The member `activation` for a name in Hugging Face's or timm's words: "gelu_new" is gelu_tanh.
/// Throws Error(unsupported) naming `key`.
[[nodiscard]] std::string activation_named(const std::string& name, const std::string& key);

[[nodiscard]] std::string json_text(const nlohmann::json& value);

/// What Hugging Face's config.json says of a model of its kind; a kind that is not run throws.
/// Without a kind `config.unnamed` is set.
void read_hugging_face_config(const nlohmann::json& object, NeighbourConfig& config);
/// What Meta's params.json says of a Llama.
void read_meta_config(const nlohmann::json& object, NeighbourConfig& config);
/// What timm's config.json says.
void read_timm_config(const nlohmann::json& object, NeighbourConfig& config);

}  // namespace attnscope
