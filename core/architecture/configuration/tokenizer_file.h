// Finds the file next to a model that defines its tokenizer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace attnscope {

struct TokenizerFile {
  enum class Kind {
    none,
    tokenizer_json,  ///< file of Hugging Face's tokenizers library
    word_pieces,     ///< vocab.txt
    byte_pairs,      ///< vocab.json, with merges.txt next to it
    sentence_piece   ///< tokenizer.model, spiece.model
  };
  Kind kind = Kind::none;
  std::filesystem::path path;
};

/// First tokenizer file that exists, in the order of the kinds.
[[nodiscard]] TokenizerFile find_tokenizer_file(const std::filesystem::path& folder);

/// Tokenizer class of the model if tokenizer_config.json names none: from config.json, or the class
/// of its model_type; empty if unknown.
[[nodiscard]] std::string tokenizer_class_of_model(const std::filesystem::path& folder);

/// Id of the padding token in tokenizer_config.json: pad_token, by its number in
/// added_tokens_decoder; empty if not given. Throws Error(damaged).
[[nodiscard]] std::optional<std::int64_t> padding_token(const std::filesystem::path& folder);

}  // namespace attnscope
