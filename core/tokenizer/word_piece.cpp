// WordPiece (Schuster and Nakajima 2012, as BERT uses it): greedy longest match.
#include "core/budget.h"
#include "core/error.h"
#include "core/tokenizer/aligned_text.h"
#include "core/tokenizer/token_model.h"

namespace attnscope {

namespace {

class WordPiece final : public TokenModel {
 public:
  WordPiece(TokenTable table, WordPieceSettings settings, std::int64_t unknown)
      : TokenModel(std::move(table)), settings_(std::move(settings)), unknown_(unknown) {}

  void tokenize(std::string_view word, std::vector<WordToken>& tokens) const override {
    std::vector<std::size_t> ends;  // end of each character
    for_each_character(word, [&](char32_t, std::size_t, std::size_t end) { ends.push_back(end); });
    const std::size_t before = tokens.size();
    if (std::ssize(ends) <= settings_.longest_word && take_longest(word, ends, tokens)) return;
    tokens.resize(before);
    tokens.push_back({unknown_, 0, word.size()});
  }

 private:
  /// Returns false if a rest of the word has no token.
  bool take_longest(std::string_view word, const std::vector<std::size_t>& ends,
                    std::vector<WordToken>& tokens) const {
    std::size_t begin = 0;
    for (std::size_t first = 0; first < ends.size();) {
      std::size_t last = ends.size();
      std::optional<std::int64_t> id;
      for (; last > first; --last) {
        spend_work(1 + settings_.continuing_prefix.size() / 8);
        id = table().find((begin > 0 ? settings_.continuing_prefix : std::string()) +
                          std::string(word.substr(begin, ends[last - 1] - begin)));
        if (id) break;
      }
      if (!id) return false;
      tokens.push_back({*id, begin, ends[last - 1]});
      begin = ends[last - 1];
      first = last;
    }
    return true;
  }

  WordPieceSettings settings_;
  std::int64_t unknown_;
};

}  // namespace

std::shared_ptr<const TokenModel> make_word_piece(TokenTable table,
                                                  const WordPieceSettings& settings) {
  constexpr std::int64_t most = 1000;  // the time grows with the square of the length
  if (settings.longest_word > most) {
    throw Error(ErrorKind::unsupported, "the tokenizer's limit of characters per word is too large")
        .about("model.max_input_chars_per_word")
        .expected("at most " + std::to_string(most))
        .found(std::to_string(settings.longest_word));
  }
  const auto unknown = table.find(settings.unknown);
  if (!unknown) {
    throw Error(ErrorKind::damaged, "the vocabulary lacks the token for unknown words")
        .expected(settings.unknown);
  }
  return std::make_shared<const WordPiece>(std::move(table), settings, *unknown);
}

}  // namespace attnscope
