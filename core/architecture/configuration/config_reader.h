// Reads the keys of a configuration, each once; the keys that are left over are unknown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "core/architecture/configuration/config_kind.h"
#include "core/architecture/configuration/neighbour_config.h"

namespace attnscope {

/// Reads the keys of one JSON object into a NeighbourConfig.
class ConfigReader {
 public:
  ConfigReader(const nlohmann::json& object, NeighbourConfig& config)
      : object_(object), config_(config) {}

  /// Takes every key of `keys` that is present. Throws Error(unsupported) for a value that is not
  /// supported.
  void take(std::span<const ConfigKey> keys);
  /// Sets the members of `kind`, then takes its keys and flags. Throws likewise.
  void take(const ConfigKind& kind);
  /// True if `key` is present, even as null.
  [[nodiscard]] bool has(const std::string& key) const;
  /// Value of `key`, which then counts as taken; null if missing. Throws Error(unsupported) for
  /// whole numbers beyond 2^53.
  [[nodiscard]] const nlohmann::json& take_value(const std::string& key);
  /// Boolean under `key`, which then counts as taken; `usual` if missing. Null is false, as in
  /// Python, and damaged where the default is true: no upstream code means it. Throws
  /// Error(damaged).
  [[nodiscard]] bool flag(const std::string& key, bool usual);
  /// The keys that are left over, except for `kept`; they then count as taken.
  [[nodiscard]] nlohmann::json take_rest(std::span<const std::string> kept);
  /// Records every remaining key as unknown, unless its value is off (null, false, 0, empty).
  void finish(const std::string& prefix = "");

 private:
  void take_one(const ConfigKey& key, const std::string& name, const nlohmann::json& value);
  [[nodiscard]] bool says_under_another_name(const ConfigKey& key,
                                             std::span<const ConfigKey> keys) const;

  const nlohmann::json& object_;
  NeighbourConfig& config_;
  std::set<std::string, std::less<>> taken_;
};

/// Value of the member `activation` for a name of Hugging Face or timm: "gelu_new" is gelu_tanh.
/// Throws Error(unsupported) naming `key`.
[[nodiscard]] std::string activation_named(const std::string& name, const std::string& key);

[[nodiscard]] std::string json_text(const nlohmann::json& value);

/// Removes labels, classes and read-out, which belong to parts that are not run.
void forget_head(NeighbourConfig& config);

/// Reads Hugging Face's config.json for its kind of model (model_type), of `own` or built in.
/// Throws for a kind that is not supported. Without a kind, sets `config.unnamed`.
void read_hugging_face_config(const nlohmann::json& object, NeighbourConfig& config,
                              std::span<const ConfigKind> own = {});
/// Reads Meta's params.json of a Llama.
void read_meta_config(const nlohmann::json& object, NeighbourConfig& config);
/// Reads timm's config.json for its architecture, of `own` or built in.
void read_timm_config(const nlohmann::json& object, NeighbourConfig& config,
                      std::span<const ConfigKind> own = {});
/// Reads the arguments of timm's Eva for rotary positions, which no tensor shows.
void read_trained_grid(ConfigReader& reader, NeighbourConfig& config);
/// Reads open_clip_config.json, which describes the two towers that OpenCLIP saves in one file,
/// into `config.towers`: the image tower, and the text tower if it is CLIP's or SigLIP's own.
/// Throws Error(unsupported) for a value of a known key that is not supported, Error(damaged) for
/// one of the wrong type.
void read_open_clip_config(const nlohmann::json& object, NeighbourConfig& config);

}  // namespace attnscope
