#include "core/tokenizer/tokenizer.h"

#include <unordered_map>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

class StagedTokenizer final : public Vocabulary {
 public:
  explicit StagedTokenizer(TokenizerStages stages)
      : stages_(std::move(stages)), added_(stages_.added, stages_.normalizer) {
    size_ = stages_.model->table().size();
    for (const AddedToken& token : stages_.added) {
      added_by_id_[token.id] = token;
      size_ = std::max(size_, token.id + 1);
    }
  }

  [[nodiscard]] std::vector<std::int64_t> encode(const std::string& text) const override {
    return encode_texts(text, nullptr).ids;
  }

  [[nodiscard]] Encoding encode_texts(const std::string& first,
                                      const std::string* second) const override {
    constexpr BudgetRates rates{.always = 4 << 20, .a_byte = 256};
    const ThreadBudget budget("splitting the text into tokens",
                              first.size() + (second ? second->size() : 0), rates);
    std::vector<Encoding> texts{encode_one(first, 0)};
    if (second) texts.push_back(encode_one(*second, 1));
    Encoding all;
    for (const Encoding& part : stages_.post_processor(std::move(texts))) {
      for (std::size_t i = 0; i < part.ids.size(); ++i) {
        all.add(part.ids[i], part.types[i], part.places[i], part.sources[i]);
      }
    }
    return all;
  }

  [[nodiscard]] std::string text_of(std::int64_t id) const override {
    const auto added = added_by_id_.find(id);
    if (added != added_by_id_.end()) return added->second.content;
    const std::string& text = stages_.model->table().text(id);
    // Models may have more embedding rows than their tokenizers have tokens.
    if (text.empty()) return "<" + std::to_string(id) + ">";
    constexpr BudgetRates rates{.always = 4 << 10, .a_byte = 64};
    const ThreadBudget budget("showing a token", text.size(), rates);
    return stages_.decoder(text);
  }

  [[nodiscard]] bool is_special(std::int64_t id) const override {
    const auto added = added_by_id_.find(id);
    return added != added_by_id_.end() && added->second.special;
  }

  [[nodiscard]] std::int64_t size() const override { return size_; }

 private:
  [[nodiscard]] Encoding encode_one(const std::string& text, std::int8_t number) const {
    const WorkRule rule("tokenizer");
    AlignedText given(text);
    if (stages_.cleaning) given = stages_.cleaning(given);
    std::vector<TextPiece> pieces = added_.split(given, stages_.normalizer);
    stages_.pre_tokenizer(pieces);
    Encoding encoding;
    std::vector<WordToken> tokens;
    for (const TextPiece& piece : pieces) {
      if (piece.text.empty()) continue;
      tokens.clear();
      if (piece.token) {
        tokens.push_back({*piece.token, 0, piece.text.text().size()});
      } else {
        stages_.model->tokenize(piece.text.text(), tokens);
      }
      for (const WordToken& token : tokens) {
        encoding.add(token.id, number, piece.text.place(token.begin, token.end), number);
      }
    }
    return encoding;
  }

  TokenizerStages stages_;
  AddedTokens added_;
  std::unordered_map<std::int64_t, AddedToken> added_by_id_;
  std::int64_t size_ = 0;
};

}  // namespace

std::shared_ptr<const Vocabulary> make_tokenizer(TokenizerStages stages) {
  return std::make_shared<const StagedTokenizer>(std::move(stages));
}

}  // namespace attnscope
