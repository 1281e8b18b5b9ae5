// User's options for settings that a model file does not specify.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// Row order of a fused query, key and value weight.
enum class QkvRows {
  parts_first,  ///< all queries, all keys, all values: (H + 2·Hk, d)
  heads_first   ///< per key head its queries, its key, its value: (Hk, H/Hk + 2, d)
};

/// User's settings for what a file does not specify: option names → values as text ("heads" → "3"),
/// and optionally an architecture description. Options are the members of ModelSpec and three
/// options of the file itself: kIgnoreOption, kStateDictOption and kQkvRowsOption.
struct ModelOptions {
  std::map<std::string, std::string> overrides;
  std::filesystem::path description;  ///< a user's architecture description (JSON); may be empty

  bool operator==(const ModelOptions&) const = default;

  /// Patterns given by kIgnoreOption.
  [[nodiscard]] std::vector<std::string> ignored() const;
  /// Value of kStateDictOption; empty if not given.
  [[nodiscard]] std::string state_dict() const;
};

/// Option with comma-separated patterns of tensors without a role that the user excludes;
/// "config.KEY" excludes a key of the configuration next to the file.
inline constexpr const char* kIgnoreOption = "ignore";
/// Option that selects one of several state dicts in the file: "model_ema", "teacher".
inline constexpr const char* kStateDictOption = "state_dict";

/// Option for the row order of a fused query, key and value weight: a name of QkvRows.
inline constexpr const char* kQkvRowsOption = "qkv_rows";

/// Prefix of options for the image tower of a model of pictures and texts: "tower.heads". Other
/// options are its language model's.
inline constexpr const char* kTowerOption = "tower.";

/// True for the three options that are not members of ModelSpec.
[[nodiscard]] bool is_file_option(std::string_view option);

}  // namespace attnscope
