// Tokenizers from the metadata of GGUF files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/key_values.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// The key that a file with a tokenizer has.
inline constexpr std::string_view kGgufTokenizerKey = "tokenizer.ggml.model";

/// The keys tokenizer.ggml.* of a file, as they are.
struct GgufTokenizer {
  std::string model;                 ///< "gpt2", "llama"
  std::string pre;                   ///< how texts are split: "llama-bpe"
  std::vector<std::string> tokens;   ///< in order of their numbers
  std::vector<std::int32_t> types;   ///< token_type: as long as tokens
  std::vector<std::string> merges;   ///< "a b"
  std::vector<double> scores;        ///< as long as tokens, of "llama"
  std::optional<std::int64_t> bos;   ///< bos_token_id
  std::optional<std::int64_t> eos;   ///< eos_token_id
  std::optional<bool> add_bos;       ///< add_bos_token; missing: as `pre` has it
  bool add_eos = false;              ///< add_eos_token
  bool add_space_prefix = true;      ///< of "llama"
  bool remove_extra_spaces = false;  ///< remove_extra_whitespaces, of "llama"
};

/// What the file says. Throws Error(damaged) for values of another type.
[[nodiscard]] GgufTokenizer gguf_tokenizer_of(const KeyValues& keys);

/// Byte pairs ("gpt2"), and SentencePiece's with scores ("llama"). Control tokens and those that
/// users added are found in texts. Throws Error(unsupported) for models ("t5", "bert") and ways to
/// split that are not implemented, naming them, Error(damaged) where the lists do not fit each
/// other.
[[nodiscard]] std::shared_ptr<const Vocabulary> make_gguf_tokenizer(const GgufTokenizer& data);

}  // namespace attnscope
