#include "core/tokenizer/added_tokens.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/budget.h"
#include "core/tokenizer/stage_fields.h"
#include "core/tokenizer/unicode.h"

namespace attnscope {

namespace {

/// The character that ends at `end`, which is not 0.
char32_t character_before(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
  return utf8_character(text, begin, end - begin);
}

char32_t character_at(std::string_view text, std::size_t at) {
  return utf8_character(text, at, utf8_length(text, at));
}

bool is_single_word(std::string_view text, std::size_t begin, std::size_t end) {
  return (begin == 0 || !is_word_character(character_before(text, begin))) &&
         (end == text.size() || !is_word_character(character_at(text, end)));
}

}  // namespace

AddedToken read_added_token(StageFields& fields, std::int64_t id, bool normalized) {
  AddedToken token;
  token.id = id;
  token.content = fields.text("content");
  token.single_word = fields.flag("single_word", false);
  token.lstrip = fields.flag("lstrip", false);
  token.rstrip = fields.flag("rstrip", false);
  token.normalized = fields.flag("normalized", normalized);
  token.special = fields.flag("special", false);
  fields.finish();
  return token;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer)
    : tokens_(std::move(tokens)) {
  const WorkRule rule("added_tokens");
  std::vector<std::string> before(tokens_.size()), after(tokens_.size());
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    if (token.content.empty()) continue;
    (token.normalized ? after : before)[i] =
        token.normalized ? normalizer(AlignedText(token.content)).text() : token.content;
  }
  before_ = PrefixTable(std::move(before));
  after_ = PrefixTable(std::move(after));
}

std::vector<TextPiece> AddedTokens::split(const AlignedText& text,
                                          const Normalizer& normalizer) const {
  std::vector<TextPiece> first, pieces;
  find(text, before_, first);
  for (TextPiece& piece : first) {
    if (piece.token) {
      pieces.push_back(std::move(piece));
    } else {
      find(normalizer(piece.text), after_, pieces);
    }
  }
  return pieces;
}

void AddedTokens::find(const AlignedText& text, const PrefixTable& patterns,
                       std::vector<TextPiece>& pieces) const {
  const WorkRule rule("added_tokens");
  const std::string_view all = text.text();
  std::size_t done = 0;  // end of the text that is in `pieces`
  for (std::size_t at = 0; at < all.size();) {
    const auto found = patterns.longest(all.substr(at));
    if (!found) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[found->place];
    std::size_t begin = at, end = at + found->length;
    at = end;
    if (token.single_word && !is_single_word(all, begin, end)) continue;
    while (token.lstrip && begin > done && is_white_space(character_before(all, begin))) {
      begin -= utf8_of(character_before(all, begin)).size();
    }
    while (token.rstrip && end < all.size() && is_white_space(character_at(all, end))) {
      end += utf8_length(all, end);
    }
    if (done < begin) pieces.push_back({text.part(done, begin), {}});
    pieces.push_back({text.part(begin, end), token.id});
    at = done = end;
  }
  if (done < all.size()) pieces.push_back({text.part(done, all.size()), {}});
}

}  // namespace attnscope
