// What lies beside a weight file: Hugging Face's or timm's config.json, OpenCLIP's
// open_clip_config.json, Meta's params.json, preprocessor_config.json.
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

namespace attnscope {

/// The family of GGUF files, whose names are of no model without the keys of the file.
inline constexpr std::string_view kGgufFamily = "GGUF language model";

/// What the configuration beside a weight file, or in it, says of the model.
struct NeighbourConfig {
  std::filesystem::path file;  ///< config.json or the like, or the weight file; empty: none
  /// model_type, timm's or GGUF's architecture; empty: it does not say.
  std::string kind;
  std::vector<std::string_view> families;  ///< those that `kind` may be of; empty: it says none
  std::map<std::string, std::string>
      values;  ///< members of ModelSpec, as apply_override takes them
  /// Members of `values` that only repeat what the tensors' shapes say, or that the weight file
  /// itself says: no assumptions.
  std::set<std::string, std::less<>> facts;
  /// Members of `values` that go before what the family states of all its models.
  std::set<std::string, std::less<>> overruling;
  /// Members of `values` that it leaves out: what the class of its kind has for them.
  std::set<std::string, std::less<>> defaults;
  std::string own_code;       ///< auto_map: classes of the model's own code, as JSON; empty: none
  std::int64_t classes = -1;  ///< −1: it does not say
  /// Whether a language model's head is its token embedding; nothing: it does not say.
  std::optional<bool> ties_head;
  bool free_head = false;  ///< the user's word: whether it is, is not taken from here
  /// Of a model of images and texts (CLIP): what is said of each of the two, with its families.
  std::vector<NeighbourConfig> towers;
  /// Patterns of tensors that a key says take no part.
  std::vector<std::string> unused;
  /// The whole, as JSON, where it does not say what kind of model it is of: as_of_family.
  std::string unnamed;
  std::string class_name;  ///< of architectures, where that tells no kind; empty: it has none
  std::vector<std::string> unread;  ///< keys that nothing is known of, where there is no kind
  /// Keys that are not known to leave the computation alone, with their values.
  std::vector<std::pair<std::string, std::string>> unknown;

  /// Whether the model may be of `family`.
  [[nodiscard]] bool allows(std::string_view family) const;
  /// What is said of `family`: of the tower that may be of it, else this.
  [[nodiscard]] const NeighbourConfig& of(std::string_view family) const;
};

/// Reads the files beside `weights`. Keys that `ignored` (patterns "config.KEY", or "config" for
/// the whole file) names are left out. Throws Error(damaged) if one of the files is not JSON,
/// Error(unsupported) for a value that this version does not run: an activation, a kind of model.
[[nodiscard]] NeighbourConfig neighbour_config(const std::filesystem::path& weights,
                                               std::span<const std::string> ignored = {});

/// What `config` says of `family`; where it does not say its kind, read as each kind of that family
/// and kept where they agree. Throws Error(unsupported) where they read it differently, or its
/// class is not known.
[[nodiscard]] NeighbourConfig as_of_family(const NeighbourConfig& config, std::string_view family);

/// Throws Error(unsupported) naming the first of `config.unknown`.
void check_known(const NeighbourConfig& config);

}  // namespace attnscope
