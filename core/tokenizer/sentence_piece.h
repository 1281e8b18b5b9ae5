// SentencePiece (Kudo and Richardson 2018): models of pieces, whose spaces are written ▁.
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
  std::string charsmap;             ///< Charsmap's bytes; empty: characters stay as they are
  bool add_dummy_prefix = true;     ///< ▁ before the text
  bool prefix_every_part = true;    ///< also behind special tokens, else at the beginning alone
  bool remove_extra_spaces = true;  ///< around the text, and of several all but one
  bool goes_on = false;             ///< as if text stood before: spaces at its beginning stay
  bool byte_fallback = false;       ///< <0xNN> for characters that no piece has
};

/// A .model file (sentencepiece_model.proto). Throws Error(damaged), Error(unsupported) naming what
/// is not implemented.
[[nodiscard]] SentencePiece read_sentence_piece(const std::filesystem::path& file);

/// Bytes of a piece in such a file besides its text: tags, lengths, score.
inline constexpr std::size_t kFieldBytes = 9;

/// All stages but a post-processor. Control pieces are found in texts as special tokens. Throws
/// Error(damaged), Error(unsupported) for a piece of more than 256 bytes.
[[nodiscard]] TokenizerStages sentence_piece_stages(const SentencePiece& model);

}  // namespace attnscope
