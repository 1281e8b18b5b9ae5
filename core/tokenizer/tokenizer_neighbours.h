// Settings in files next to a vocabulary: tokenizer_config.json, added_tokens.json.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/tokenizer/added_tokens.h"
#include "core/tokenizer/token_model.h"

namespace attnscope {

struct TokenizerNeighbours {
  nlohmann::json config;                     ///< tokenizer_config.json
  std::map<std::int64_t, AddedToken> added;  ///< added tokens by id
  std::filesystem::path path;                ///< path of tokenizer_config.json

  /// A text, also if given as {"content": …}. Throws Error(unsupported) for a value of another
  /// type.
  [[nodiscard]] std::string text(const std::string& key, const std::string& if_missing) const;
  [[nodiscard]] bool flag(const std::string& key, bool if_missing) const;
  /// The tokenizer class without the suffix "Fast".
  [[nodiscard]] std::string class_name(const std::string& if_missing) const;
  /// An Error(unsupported) that names the key.
  [[nodiscard]] Error refused(const std::string& key, const std::string& expected) const;

  /// Adds a special token, which is then matched in texts, and returns its id. Throws
  /// Error(damaged) if `table`, read from `file`, lacks it.
  std::int64_t make_special(const std::string& text, const TokenTable& table,
                            const std::filesystem::path& file);
  [[nodiscard]] std::vector<AddedToken> added_tokens() const;
};

/// Reads both files of a folder; missing ones count as empty. Throws Error naming the file.
[[nodiscard]] TokenizerNeighbours read_tokenizer_neighbours(const std::filesystem::path& folder);

/// Size limit of a tokenizer's file in bytes.
constexpr std::size_t largest_tokenizer_file = std::size_t{256} << 20;

}  // namespace attnscope
