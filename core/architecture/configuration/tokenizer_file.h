// Which of the files beside a model says how it splits texts into tokens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace attnscope {

struct TokenizerFile {
  enum class Kind {
    none,
    tokenizer_json,  ///< what Hugging Face's tokenizers saves
    word_pieces,     ///< vocab.txt
    byte_pairs,      ///< vocab.json, with merges.txt beside it
    sentence_piece   ///< tokenizer.model, spiece.model
  };
  Kind kind = Kind::none;
  std::filesystem::path path;
};

/// The first that there is, in the order of the kinds.
[[nodiscard]] TokenizerFile find_tokenizer_file(const std::filesystem::path& folder);

/// The class of tokenizers that is made for the model where tokenizer_config.json names none: as
/// config.json says, or as its model_type has it; empty where that is not known.
[[nodiscard]] std::string tokenizer_class_of_model(const std::filesystem::path& folder);

/// The number of the token that tokenizer_config.json fills up texts with: pad_token, as its
/// added_tokens_decoder numbers it; nothing where it does not say. Throws Error(damaged).
[[nodiscard]] std::optional<std::int64_t> padding_token(const std::filesystem::path& folder);

}  // namespace attnscope
