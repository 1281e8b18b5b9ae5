// Reads the files next to a weight file (Hugging Face's or timm's config.json, OpenCLIP's
// open_clip_config.json, Meta's params.json, preprocessor_config.json), the keys of a GGUF file,
// and settings that training code saves with the weights, such as nanoGPT's model_args.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Id of the family of most GGUF files. Tensor names do not identify a model without the keys of
/// the file, so that no other file may be of a family whose id begins with "gguf-".
inline constexpr std::string_view kGgufFamily = "gguf-language-model";
/// Id of the same with experts in place of MLPs.
inline constexpr std::string_view kGgufMixture = "gguf-mixture-of-experts";

struct ConfigKind;

/// Model settings from a configuration next to a weight file or inside it.
struct NeighbourConfig {
  std::filesystem::path file;  ///< config.json or the like, or the weight file; empty: none
  /// model_type, or timm's or GGUF's architecture; empty if not given.
  std::string kind;
  /// Ids of the possible families of `kind`; empty: unknown.
  std::vector<std::string> families;
  /// Members of ModelSpec, as apply_override takes them.
  std::map<std::string, std::string> values;
  /// Members of `values` that only repeat what the tensors' shapes show, or that the weight file
  /// itself gives: not assumptions.
  std::set<std::string, std::less<>> facts;
  /// Members of `values` that override what the family states for all its models.
  std::set<std::string, std::less<>> overruling;
  /// Members of `values` that the file leaves out and the class of its kind sets by default.
  std::set<std::string, std::less<>> defaults;
  std::string own_code;       ///< auto_map as JSON: classes of the model's own code; empty: none
  std::int64_t classes = -1;  ///< number of classes; −1: not given
  /// True if a language model's head is its token embedding; empty if not given.
  std::optional<bool> ties_head;
  bool free_head = false;  ///< true if the user ignores tie_word_embeddings
  /// Settings of each tower of a model with an image and a text tower (CLIP), with its families.
  std::vector<NeighbourConfig> towers;
  /// Number of layers behind the last that predict further tokens, and are not run if the file has
  /// them (DeepSeek-V3).
  std::int64_t further_layers = 0;
  /// Patterns of tensors that a key declares unused.
  std::vector<std::string> unused;
  /// Whole configuration as JSON if it does not give the kind of model; as_of_family reads it.
  std::string unnamed;
  std::string class_name;           ///< class in architectures if it gives no kind; empty: none
  std::vector<std::string> unread;  ///< unknown keys, if there is no kind
  /// Keys that may change the computation and are unknown, with their values.
  std::vector<std::pair<std::string, std::string>> unknown;

  /// True if the model may be of `family`.
  [[nodiscard]] bool allows(std::string_view family) const;
  /// Settings for `family`: those of its tower, otherwise this.
  [[nodiscard]] const NeighbourConfig& of(std::string_view family) const;
};

/// Reads the files next to `weights`. Keys that `ignored` names (patterns "config.KEY", or "config"
/// for the whole file) are left out. Kinds in `own` take precedence over built-in ones. Throws
/// Error(damaged) if one of the files is not JSON, Error(unsupported) for a value that is not
/// supported, such as an activation or a kind of model.
[[nodiscard]] NeighbourConfig neighbour_config(const std::filesystem::path& weights,
                                               std::span<const std::string> ignored = {},
                                               std::span<const ConfigKind> own = {});

/// Settings of `config` for `family`. A configuration without a kind is read as each kind of that
/// family that knows most of its keys. Throws Error(unsupported) if these read a given key
/// differently, or if its class is unknown; defaults that differ are dropped.
[[nodiscard]] NeighbourConfig as_of_family(const NeighbourConfig& config, std::string_view family);

/// Throws Error(unsupported) naming the first of `config.unknown`.
void check_known(const NeighbourConfig& config);

/// Settings of a checkpoint with key values. Keys that `ignored` names (patterns
/// "config.llama.KEY", or "config" for all) are left out. Throws Error(unsupported) naming the key
/// for an architecture or a value that is not supported, and for tensors that the architecture does
/// not have; Error(damaged) for a key that is missing or has a different type.
[[nodiscard]] NeighbourConfig gguf_config(const Checkpoint& checkpoint,
                                          std::span<const std::string> ignored = {});

/// Adds heads, position of norms and activation from the file's settings to `config`, by common
/// names ("model_args.n_head"), unless the configuration gives them. Settings that contradict each
/// other or have unknown values are ignored.
void add_own_settings(const Checkpoint& checkpoint, NeighbourConfig& config);

}  // namespace attnscope
