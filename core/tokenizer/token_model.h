// The third stage of a tokenizer: words into the tokens of its vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace attnscope {

/// The tokens of a model by their texts.
class TokenTable {
 public:
  /// Throws Error(damaged) for a number beyond any vocabulary (2^24).
  void add(const std::string& text, std::int64_t id);
  [[nodiscard]] std::optional<std::int64_t> find(const std::string& text) const;
  /// Empty for a number that no token has.
  [[nodiscard]] const std::string& text(std::int64_t id) const;
  /// One more than the greatest number.
  [[nodiscard]] std::int64_t size() const { return std::ssize(texts_); }
  /// How many different texts.
  [[nodiscard]] std::int64_t count() const { return std::ssize(ids_); }

 private:
  std::unordered_map<std::string, std::int64_t> ids_;
  std::vector<std::string> texts_;
};

/// A token, and the bytes [begin, end) of the word that it stands for.
struct WordToken {
  std::int64_t id;
  std::size_t begin, end;
};

class TokenModel {
 public:
  explicit TokenModel(TokenTable table) : table_(std::move(table)) {}
  virtual ~TokenModel() = default;

  /// Appends the tokens of a word, not empty, in UTF-8. Throws Error(usage) naming the part that
  /// the vocabulary lacks if it has no token for unknown ones.
  virtual void tokenize(std::string_view word, std::vector<WordToken>& tokens) const = 0;
  [[nodiscard]] const TokenTable& table() const { return table_; }

 private:
  TokenTable table_;
};

/// "model" of a tokenizer.json. Throws Error(unsupported) naming what is not implemented,
/// Error(damaged).
[[nodiscard]] std::shared_ptr<const TokenModel> make_token_model(const nlohmann::json& object);

struct WordPieceSettings {
  std::string unknown = "[UNK]";
  std::string continuing_prefix = "##";
  std::int64_t longest_word = 100;  ///< in characters; longer ones are unknown
};
/// Greedy longest match. Throws Error(damaged) if the table lacks the unknown token.
[[nodiscard]] std::shared_ptr<const TokenModel> make_word_piece(TokenTable table,
                                                                const WordPieceSettings& settings);

struct BytePairSettings {
  std::optional<std::string> unknown;
  bool fuse_unknown = false;
  bool byte_fallback = false;  ///< <0xNN> for what has no token, if all bytes have one
  bool ignore_merges = false;  ///< a word that is a token needs no merging
  std::string continuing_prefix;
  std::string end_of_word;  ///< "</w>"
};
using Merges = std::vector<std::pair<std::string, std::string>>;
/// Merges the pair of lowest rank, the leftmost first, until none is left. Throws Error(damaged) if
/// the table lacks a part of a merge or what it makes.
[[nodiscard]] std::shared_ptr<const TokenModel> make_byte_pairs(TokenTable table,
                                                                const Merges& merges,
                                                                const BytePairSettings& settings);

/// What a piece of a SentencePiece model is, by its numbers; GGUF's token types are the same.
enum class PieceKind {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6
};

/// Pieces in order of their numbers; each list as long as the others.
struct ScoredPieces {
  std::vector<std::string> texts;
  std::vector<double> scores;
  std::vector<PieceKind> kinds;
};
struct UnigramSettings {
  std::optional<std::int64_t> unknown;
  bool byte_fallback = false;
  bool single_precision = false;  ///< sums as SentencePiece takes them; tokenizer.json's are double
};
/// The most probable way to write a word in pieces (Viterbi; Kudo 2018); an unknown character costs
/// 10 more than the worst piece, neighbouring ones are one token. Throws Error(damaged).
[[nodiscard]] std::shared_ptr<const TokenModel> make_unigram(const ScoredPieces& pieces,
                                                             const UnigramSettings& settings);

/// "<0x0A>" for 10.
[[nodiscard]] std::string byte_token(unsigned char byte);

/// An Error(usage): nothing in the vocabulary says `part`.
[[noreturn]] void refuse_unknown(std::string_view part);

}  // namespace attnscope
