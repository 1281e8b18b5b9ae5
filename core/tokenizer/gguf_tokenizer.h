// Makes tokenizers from the metadata of GGUF files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/key_values.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// Key that marks a file with a tokenizer.
inline constexpr std::string_view kGgufTokenizerKey = "tokenizer.ggml.model";

/// Values of the keys tokenizer.ggml.* of a file.
struct GgufTokenizer {
  std::string model;                 ///< "gpt2", "llama"
  std::string pre;                   ///< pre-tokenizer: "llama-bpe"
  std::vector<std::string> tokens;   ///< tokens in order of their ids
  std::vector<std::int32_t> types;   ///< token_type, one per token
  std::vector<std::string> merges;   ///< pairs "a b"
  std::vector<double> scores;        ///< one per token, "llama" only
  std::optional<std::int64_t> bos;   ///< bos_token_id
  std::optional<std::int64_t> eos;   ///< eos_token_id
  std::optional<bool> add_bos;       ///< add_bos_token; if missing, `pre` decides
  bool add_eos = false;              ///< add_eos_token
  bool add_space_prefix = true;      ///< add_space_prefix, "llama" only
  bool remove_extra_spaces = false;  ///< remove_extra_whitespaces, "llama" only
};

/// Reads the keys. Throws Error(damaged) for values of the wrong type.
[[nodiscard]] GgufTokenizer gguf_tokenizer_of(const KeyValues& keys);

/// Makes a byte-pair tokenizer ("gpt2") or a SentencePiece tokenizer with scores ("llama"). Control
/// tokens and user-defined tokens are matched in texts. Throws Error(unsupported) naming a model
/// ("t5", "bert") or pre-tokenizer that is not implemented, Error(damaged) if the lists do not fit
/// each other.
[[nodiscard]] std::shared_ptr<const Vocabulary> make_gguf_tokenizer(const GgufTokenizer& data);

}  // namespace attnscope
