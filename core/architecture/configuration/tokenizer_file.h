// Which of the files beside a model says how it splits texts into tokens.
#pragma once

#include <filesystem>

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

}  // namespace attnscope
