// The unigram language model of SentencePiece (Kudo 2018).
#include <algorithm>
#include <numeric>

#include "core/budget.h"
#include "core/error.h"
#include "core/tokenizer/aligned_text.h"
#include "core/tokenizer/token_model.h"

namespace attnscope {

TokenTable table_of(const ScoredPieces& pieces) {
  TokenTable table;
  for (std::size_t i = 0; i < pieces.texts.size(); ++i) {
    table.add(pieces.texts[i], static_cast<std::int64_t>(i));
  }
  return table;
}

namespace {

/// Score of a user-defined piece, proportional to its length in bytes so that it wins.
double user_defined_score(const ScoredPieces& pieces, std::size_t i, double greatest) {
  return static_cast<double>(pieces.texts[i].size()) * greatest - 0.1;
}

class Unigram final : public TokenModel {
 public:
  Unigram(const ScoredPieces& pieces, UnigramSettings settings)
      : TokenModel(table_of(pieces)), settings_(settings), scores_(pieces.scores) {
    if (scores_.empty()) throw Error(ErrorKind::damaged, "the vocabulary is empty");
    double least = 0, greatest = 0;
    bool any = false;
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      if (pieces.kinds[i] != PieceKind::normal) continue;
      least = any ? std::min(least, scores_[i]) : scores_[i];
      greatest = any ? std::max(greatest, scores_[i]) : scores_[i];
      any = true;
    }
    unknown_score_ = least - 10;
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      const PieceKind kind = pieces.kinds[i];
      if (kind == PieceKind::user_defined) scores_[i] = user_defined_score(pieces, i, greatest);
      const bool matched = kind == PieceKind::normal || kind == PieceKind::user_defined;
      const auto id = static_cast<std::int64_t>(i);
      // The table keeps the last of equal texts, so only that one is used.
      if (matched && !pieces.texts[i].empty() && table().find(pieces.texts[i]) == id) {
        sorted_.push_back(id);
      }
    }
    std::sort(sorted_.begin(), sorted_.end(),
              [&](std::int64_t a, std::int64_t b) { return table().text(a) < table().text(b); });
  }

  void tokenize(std::string_view word, std::vector<WordToken>& tokens) const override {
    std::vector<Best> best = best_ways(word);
    std::vector<WordToken> found;
    for (std::size_t end = word.size(); end > 0; end = best[end].begin) {
      const Best& last = best[end];
      const bool joins = last.id == kUnknown && !found.empty() && found.back().id == kUnknown;
      if (joins) {
        found.back().begin = last.begin;
      } else {
        found.push_back({last.id, last.begin, end});
      }
    }
    for (auto token = found.rbegin(); token != found.rend(); ++token) {
      if (token->id != kUnknown) {
        tokens.push_back(*token);
      } else {
        add_unknown(word, *token, tokens);
      }
    }
  }

 private:
  static constexpr std::int64_t kUnknown = -1;
  struct Best {
    double score = 0;
    std::size_t begin = std::string::npos;  ///< start of the last piece; npos: not reached yet
    std::int64_t id = kUnknown;
  };

  /// The best segmentation of each prefix of the word.
  [[nodiscard]] std::vector<Best> best_ways(std::string_view word) const {
    std::vector<Best> best(word.size() + 1);
    for (std::size_t begin = 0; begin < word.size();) {
      const double before = best[begin].score;
      const auto kept = [&](double sum) {
        return settings_.single_precision ? static_cast<double>(static_cast<float>(sum)) : sum;
      };
      // SentencePiece stores sums in float and compares them in double. Among equally good
      // segmentations, it prefers the one whose stored sum was rounded down.
      const auto offer = [&](std::size_t end, double score, std::int64_t id) {
        const double sum = id == kUnknown ? kept(score + before) : score + before;
        Best& there = best[end];
        if (there.begin == std::string::npos || sum > there.score) there = {kept(sum), begin, id};
      };
      const std::size_t length = utf8_length(word, begin);
      bool single = false;  // true if a piece is exactly this character
      for_each_piece(word, begin, [&](std::int64_t id, std::size_t end) {
        offer(end, scores_[static_cast<std::size_t>(id)], id);
        single = single || end == begin + length;
      });
      if (!single) offer(begin + length, unknown_score_, kUnknown);
      begin += length;
    }
    return best;
  }

  /// Visits the pieces that match the word at `begin`, shortest first. The range of sorted pieces
  /// with the same beginning narrows with each byte.
  void for_each_piece(std::string_view word, std::size_t begin, const auto& visit) const {
    auto first = sorted_.begin(), last = sorted_.end();
    for (std::size_t depth = 0; begin + depth < word.size() && first != last; ++depth) {
      spend_work(1);
      const auto byte = static_cast<unsigned char>(word[begin + depth]);
      const auto byte_of = [&](std::int64_t id) {
        const std::string& text = table().text(id);
        return depth < text.size() ? static_cast<int>(static_cast<unsigned char>(text[depth])) : -1;
      };
      first = std::partition_point(first, last, [&](auto id) { return byte_of(id) < byte; });
      last = std::partition_point(first, last, [&](auto id) { return byte_of(id) == byte; });
      if (first != last && table().text(*first).size() == depth + 1) {
        visit(*first, begin + depth + 1);
      }
    }
  }

  void add_unknown(std::string_view word, WordToken part, std::vector<WordToken>& tokens) const {
    const std::string text(word.substr(part.begin, part.end - part.begin));
    if (!settings_.single_precision) {  // tokenizers, too, looks up the joined text again
      if (const auto whole = table().find(text)) {
        return tokens.push_back({*whole, part.begin, part.end});
      }
    }
    if (settings_.byte_fallback) {
      std::vector<WordToken> bytes;
      for (const char byte : text) {
        const auto id = table().find(byte_token(static_cast<unsigned char>(byte)));
        if (id) bytes.push_back({*id, part.begin, part.end});
      }
      if (bytes.size() == text.size()) {
        tokens.insert(tokens.end(), bytes.begin(), bytes.end());
        return;
      }
    }
    if (!settings_.unknown) refuse_unknown(text);
    tokens.push_back({*settings_.unknown, part.begin, part.end});
  }

  UnigramSettings settings_;
  std::vector<double> scores_;
  double unknown_score_ = 0;
  std::vector<std::int64_t> sorted_;  // piece ids sorted by text
};

}  // namespace

std::shared_ptr<const TokenModel> make_unigram(const ScoredPieces& pieces,
                                               const UnigramSettings& settings) {
  if (settings.unknown && *settings.unknown >= std::ssize(pieces.texts)) {
    throw Error(ErrorKind::damaged, "the token for unknown characters is not in the vocabulary");
  }
  return std::make_shared<const Unigram>(pieces, settings);
}

}  // namespace attnscope
