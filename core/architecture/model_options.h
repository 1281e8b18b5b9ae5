// What users say of a model file where it is silent.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// How the rows of a fused query, key and value weight are ordered.
enum class QkvRows {
  parts_first,  ///< all queries, all keys, all values: (H + 2·Hk, d)
  heads_first   ///< for each head of keys its queries, its keys, its values: (Hk, H/Hk + 2, d)
};

/// What the user says where a file is silent: option names → values as text ("heads" → "3"), and
/// possibly an architecture description. Options are the members of ModelSpec, and three about the
/// file itself: kIgnoreOption, kStateDictOption and kQkvRowsOption.
struct ModelOptions {
  std::map<std::string, std::string> overrides;
  std::filesystem::path description;  ///< a user's architecture description (JSON); may be empty

  bool operator==(const ModelOptions&) const = default;

  /// The patterns of kIgnoreOption.
  [[nodiscard]] std::vector<std::string> ignored() const;
  /// The value of kStateDictOption; empty if there is none.
  [[nodiscard]] std::string state_dict() const;
};

/// Patterns, separated by commas, of tensors without a role that take no part by the user's word;
/// "config.KEY" for a key of the configuration beside the file.
inline constexpr const char* kIgnoreOption = "ignore";
/// Which of several state dicts in the file: "model_ema", "teacher".
inline constexpr const char* kStateDictOption = "state_dict";

/// How the rows of a fused weight of queries, keys and values are ordered: a name of QkvRows.
inline constexpr const char* kQkvRowsOption = "qkv_rows";

/// True for the three options that are not members of ModelSpec.
[[nodiscard]] bool is_file_option(std::string_view option);

}  // namespace attnscope
