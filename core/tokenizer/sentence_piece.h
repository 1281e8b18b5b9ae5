// SentencePiece (Kudo and Richardson 2018): tokenizers whose pieces write spaces as ▁.
#pragma once

#include <filesystem>
#include <string>

#include "core/tokenizer/token_model.h"
#include "core/tokenizer/tokenizer.h"

namespace attnscope {

struct SentencePiece {
  enum class Algorithm { unigram, byte_pairs };
  Algorithm algorithm = Algorithm::unigram;
  ScoredPieces pieces;
  std::string charsmap;             ///< bytes of a Charsmap; empty: characters are unchanged
  bool add_dummy_prefix = true;     ///< adds ▁ before the text
  bool prefix_every_part = true;    ///< also after special tokens, else only at the beginning
  bool remove_extra_spaces = true;  ///< strips spaces around the text and collapses runs of spaces
  bool goes_on = false;             ///< continues another text: leading spaces are kept
  bool byte_fallback = false;       ///< uses <0xNN> for characters without a piece
};

/// Reads a .model file (sentencepiece_model.proto). Throws Error(damaged), Error(unsupported)
/// naming the unsupported part.
[[nodiscard]] SentencePiece read_sentence_piece(const std::filesystem::path& file);

/// Bytes of a piece in a .model file besides its text: tags, lengths, score.
inline constexpr std::size_t kFieldBytes = 9;

/// All stages except a post-processor. Control pieces are matched in texts as special tokens.
/// Throws Error(damaged), Error(unsupported) for a piece of more than 256 bytes.
[[nodiscard]] TokenizerStages sentence_piece_stages(const SentencePiece& model);

}  // namespace attnscope
