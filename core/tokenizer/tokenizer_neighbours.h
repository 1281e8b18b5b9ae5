// What the files beside a vocabulary say of it: tokenizer_config.json, added_tokens.json.
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
  std::map<std::int64_t, AddedToken> added;  ///< by number
  std::filesystem::path path;                ///< of the configuration

  /// Also of {"content": …}. Throws Error(unsupported) for a value of another type.
  [[nodiscard]] std::string text(const std::string& key, const std::string& if_missing) const;
  [[nodiscard]] bool flag(const std::string& key, bool if_missing) const;
  /// The class of tokenizers, which is named with and without "Fast".
  [[nodiscard]] std::string class_name(const std::string& if_missing) const;
  /// An Error(unsupported) that names the key.
  [[nodiscard]] Error refused(const std::string& key, const std::string& expected) const;

  /// The number of a special token, which is then found in texts, too. Throws Error(damaged) if
  /// `table`, of `file`, lacks it.
  std::int64_t make_special(const std::string& text, const TokenTable& table,
                            const std::filesystem::path& file);
  [[nodiscard]] std::vector<AddedToken> added_tokens() const;
};

/// What is not there says nothing. Throws Error naming the file.
[[nodiscard]] TokenizerNeighbours read_tokenizer_neighbours(const std::filesystem::path& folder);

/// A file of a tokenizer may have so many bytes.
constexpr std::size_t largest_tokenizer_file = std::size_t{256} << 20;

}  // namespace attnscope
