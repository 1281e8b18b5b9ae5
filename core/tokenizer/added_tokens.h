// Tokens that are found in the text before anything is cut: <s>, [MASK], what users added.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tokenizer/aligned_text.h"
#include "core/tokenizer/normalizer.h"
#include "core/tokenizer/prefix_table.h"

namespace attnscope {

struct AddedToken {
  std::int64_t id = 0;
  std::string content;
  bool single_word = false;  ///< not inside of a word
  bool lstrip = false;       ///< with the white space before it
  bool rstrip = false;
  bool normalized = false;  ///< looked for after normalisation, as its normalised content
  bool special = false;
};

class StageFields;

/// The token that the members other than "id" describe, all of them asked for. Where the file does
/// not say, it is looked for after normalisation if `normalized`.
[[nodiscard]] AddedToken read_added_token(StageFields& fields, std::int64_t id, bool normalized);

class AddedTokens {
 public:
  AddedTokens() = default;
  AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer);

  /// Looks for the tokens, the leftmost and longest first, and normalises what lies between: those
  /// with normalized = false before that, the others after it.
  [[nodiscard]] std::vector<TextPiece> split(const AlignedText& text,
                                             const Normalizer& normalizer) const;
  [[nodiscard]] const std::vector<AddedToken>& tokens() const { return tokens_; }

 private:
  /// Looks for texts whose places in `patterns` are those in tokens_.
  void find(const AlignedText& text, const PrefixTable& patterns,
            std::vector<TextPiece>& pieces) const;

  std::vector<AddedToken> tokens_;
  PrefixTable before_, after_;
};

}  // namespace attnscope
