// What lies beside a weight file: Hugging Face's or timm's config.json, preprocessor_config.json.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

/// What the configuration beside a weight file says of the model in it.
struct NeighbourConfig {
  std::filesystem::path file;  ///< config.json; empty: there is none
  std::string kind;            ///< its model_type, or timm's architecture; empty: it does not say
  bool of_timm = false;        ///< `kind` is one of timm's architectures
  std::map<std::string, std::string>
      values;  ///< members of ModelSpec, as apply_override takes them
  /// Members of `values` that only repeat what the tensors' shapes say: no assumptions.
  std::set<std::string, std::less<>> facts;
  std::int64_t classes = -1;  ///< −1: it does not say
  /// Whether a language model's head may be its token embedding; it is where it does not say.
  bool ties_head = true;
  /// Keys that are not known to leave the computation alone, with their values.
  std::vector<std::pair<std::string, std::string>> unknown;

  /// Whether `kind` is of one of the known families, and that is `family`; true if it says nothing.
  [[nodiscard]] bool allows(std::string_view family) const;
};

/// Reads the files beside `weights`. Keys that `ignored` (patterns "config.KEY", or "config" for
/// the whole file) names are left out. Throws Error(damaged) if one of the files is not JSON,
/// Error(unsupported) for a value that this version does not run: an activation, a kind of model.
[[nodiscard]] NeighbourConfig neighbour_config(const std::filesystem::path& weights,
                                               std::span<const std::string> ignored = {});

/// Throws Error(unsupported) naming the first of `config.unknown`.
void check_known(const NeighbourConfig& config);

}  // namespace attnscope
