// Added tokens, which are found in a text before it is split: <s>, [MASK], tokens added by users.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tokenizer/aligned_text.h"
#include "core/tokenizer/prefix_table.h"
#include "core/tokenizer/stages.h"

namespace attnscope {

struct AddedToken {
  std::int64_t id = 0;
  std::string content;
  bool single_word = false;  ///< does not match inside a word
  bool lstrip = false;       ///< includes the white space before it
  bool rstrip = false;
  bool normalized = false;  ///< matched after normalisation, by its normalised content
  bool special = false;
};

class StageFields;

/// Reads the token from all members except "id". `normalized` is the default of the member of that
/// name.
[[nodiscard]] AddedToken read_added_token(StageFields& fields, std::int64_t id, bool normalized);

class AddedTokens {
 public:
  AddedTokens() = default;
  AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer);

  /// Splits a text at the tokens, leftmost and longest first, and normalises the parts in between.
  /// Tokens with normalized = false are matched before normalisation, the others after it.
  [[nodiscard]] std::vector<TextPiece> split(const AlignedText& text,
                                             const Normalizer& normalizer) const;
  [[nodiscard]] const std::vector<AddedToken>& tokens() const { return tokens_; }

 private:
  /// Splits a text at the tokens in `patterns`, whose indices are those of tokens_.
  void find(const AlignedText& text, const PrefixTable& patterns,
            std::vector<TextPiece>& pieces) const;

  std::vector<AddedToken> tokens_;
  PrefixTable before_, after_;
};

}  // namespace attnscope
