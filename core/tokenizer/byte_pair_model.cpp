// Byte pair encoding (Sennrich et al. 2016): over bytes written as characters, or over characters.
#include <queue>

#include "core/budget.h"
#include "core/error.h"
#include "core/tokenizer/aligned_text.h"
#include "core/tokenizer/token_model.h"

namespace attnscope {

namespace {

/// A current token and its neighbours in the linked list of remaining ones; npos if none.
struct Symbol {
  std::int64_t id;
  std::size_t begin, end;
  std::size_t before, behind;
  bool merged = false;  ///< merged into the previous symbol
};
constexpr std::size_t kNone = std::string::npos;

struct Merge {
  std::size_t rank;
  std::int64_t result;
};

struct Candidate {
  std::size_t rank, at;
  std::int64_t result;
  bool operator<(const Candidate& other) const {  // the greatest is on top of the queue
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

std::uint64_t key_of(std::int64_t left, std::int64_t right) {
  return (static_cast<std::uint64_t>(left) << 32) | static_cast<std::uint64_t>(right);
}

class BytePairModel final : public TokenModel {
 public:
  BytePairModel(TokenTable tokens, const Merges& merges, BytePairSettings settings)
      : TokenModel(std::move(tokens)), settings_(std::move(settings)) {
    if (settings_.unknown) unknown_ = table().find(*settings_.unknown);
    for (std::size_t rank = 0; rank < merges.size(); ++rank) {
      const auto& [left, right] = merges[rank];
      const std::string& prefix = settings_.continuing_prefix;
      const std::string made =
          left + (right.starts_with(prefix) ? right.substr(prefix.size()) : right);
      merges_[key_of(token_of(left), token_of(right))] = {rank, token_of(made)};
    }
  }

  void tokenize(std::string_view word, std::vector<WordToken>& tokens) const override {
    if (settings_.ignore_merges) {
      if (const auto whole = table().find(std::string(word))) {
        tokens.push_back({*whole, 0, word.size()});
        return;
      }
    }
    std::vector<Symbol> symbols = characters_of(word);
    merge(symbols);
    for (const Symbol& symbol : symbols) {
      if (!symbol.merged) tokens.push_back({symbol.id, symbol.begin, symbol.end});
    }
  }

 private:
  [[nodiscard]] std::int64_t token_of(const std::string& text) const {
    const auto found = table().find(text);
    if (found) return *found;
    throw Error(ErrorKind::damaged, "the vocabulary lacks a token of the merges").found(text);
  }

  [[nodiscard]] std::vector<Symbol> characters_of(std::string_view word) const {
    std::vector<Symbol> symbols;
    bool unknown = false;  // true if the last symbol is the token for unknown characters
    for_each_character(word, [&](char32_t, std::size_t begin, std::size_t end) {
      spend_work(1 + (settings_.continuing_prefix.size() + settings_.end_of_word.size()) / 8);
      std::string text(word.substr(begin, end - begin));
      if (begin > 0) text = settings_.continuing_prefix + text;
      if (end == word.size()) text += settings_.end_of_word;
      if (const auto id = table().find(text)) {
        symbols.push_back({*id, begin, end, kNone, kNone});
        unknown = false;
      } else if (settings_.byte_fallback && add_bytes(text, begin, end, symbols)) {
        unknown = false;
      } else if (!unknown_) {
        refuse_unknown(word.substr(begin, end - begin));
      } else if (unknown && settings_.fuse_unknown) {
        symbols.back().end = end;
      } else {
        symbols.push_back({*unknown_, begin, end, kNone, kNone});
        unknown = true;
      }
    });
    return symbols;
  }

  bool add_bytes(const std::string& text, std::size_t begin, std::size_t end,
                 std::vector<Symbol>& symbols) const {
    const std::size_t before = symbols.size();
    for (const char byte : text) {
      const auto id = table().find(byte_token(static_cast<unsigned char>(byte)));
      if (!id) {
        symbols.resize(before);
        return false;
      }
      symbols.push_back({*id, begin, end, kNone, kNone});
    }
    return true;
  }

  void merge(std::vector<Symbol>& symbols) const {
    std::priority_queue<Candidate> queue;
    const auto consider = [&](std::size_t left, std::size_t right) {
      if (left == kNone || right == kNone) return;
      const auto found = merges_.find(key_of(symbols[left].id, symbols[right].id));
      if (found != merges_.end()) queue.push({found->second.rank, left, found->second.result});
    };
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      symbols[i].before = i > 0 ? i - 1 : kNone;
      symbols[i].behind = i + 1 < symbols.size() ? i + 1 : kNone;
      if (i > 0) consider(i - 1, i);
    }
    while (!queue.empty()) {
      const Candidate best = queue.top();
      queue.pop();
      Symbol& left = symbols[best.at];
      if (left.merged || left.behind == kNone) continue;
      Symbol& right = symbols[left.behind];
      const auto found = merges_.find(key_of(left.id, right.id));
      // Skips outdated candidates.
      if (found == merges_.end() || found->second.result != best.result) continue;
      left.id = best.result;
      left.end = right.end;
      left.behind = right.behind;
      right.merged = true;
      if (left.behind != kNone) symbols[left.behind].before = best.at;
      consider(left.before, best.at);
      consider(best.at, left.behind);
    }
  }

  BytePairSettings settings_;
  std::optional<std::int64_t> unknown_;
  std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace

std::shared_ptr<const TokenModel> make_byte_pairs(TokenTable table, const Merges& merges,
                                                  const BytePairSettings& settings) {
  return std::make_shared<const BytePairModel>(std::move(table), merges, settings);
}

}  // namespace attnscope
