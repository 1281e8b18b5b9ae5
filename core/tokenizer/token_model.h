// The third stage of a tokenizer: from words to tokens of its vocabulary.
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

/// The tokens of a model, by text and by id.
class TokenTable {
 public:
  /// Throws Error(damaged) for an id beyond any vocabulary (2^24).
  void add(const std::string& text, std::int64_t id);
  [[nodiscard]] std::optional<std::int64_t> find(const std::string& text) const;
  /// The text of a token; empty for an unused id.
  [[nodiscard]] const std::string& text(std::int64_t id) const;
  /// The greatest id plus 1.
  [[nodiscard]] std::int64_t size() const { return std::ssize(texts_); }
  /// Number of distinct texts.
  [[nodiscard]] std::int64_t count() const { return std::ssize(ids_); }

 private:
  std::unordered_map<std::string, std::int64_t> ids_;
  std::vector<std::string> texts_;
};

/// A token and the bytes [begin, end) of the word that it stands for.
struct WordToken {
  std::int64_t id;
  std::size_t begin, end;
};

class TokenModel {
 public:
  explicit TokenModel(TokenTable table) : table_(std::move(table)) {}
  virtual ~TokenModel() = default;

  /// Appends the tokens of a non-empty word in UTF-8. If the vocabulary has no token for unknown
  /// parts, throws Error(usage) naming the unknown part.
  virtual void tokenize(std::string_view word, std::vector<WordToken>& tokens) const = 0;
  [[nodiscard]] const TokenTable& table() const { return table_; }

 private:
  TokenTable table_;
};

/// Makes the "model" of a tokenizer.json. Throws Error(unsupported) naming the unsupported part,
/// Error(damaged).
[[nodiscard]] std::shared_ptr<const TokenModel> make_token_model(const nlohmann::json& object);

struct WordPieceSettings {
  std::string unknown = "[UNK]";
  std::string continuing_prefix = "##";
  std::int64_t longest_word = 100;  ///< in characters; longer ones are unknown
};
/// WordPiece: greedy longest match. Throws Error(damaged) if the table lacks the unknown token.
[[nodiscard]] std::shared_ptr<const TokenModel> make_word_piece(TokenTable table,
                                                                const WordPieceSettings& settings);

struct BytePairSettings {
  std::optional<std::string> unknown;
  bool fuse_unknown = false;
  /// Uses <0xNN> for characters without a token, if all their bytes have one.
  bool byte_fallback = false;
  bool ignore_merges = false;  ///< uses a whole word that is a token without merging
  std::string continuing_prefix;
  std::string end_of_word;  ///< suffix of a word's last token: "</w>"
};
using Merges = std::vector<std::pair<std::string, std::string>>;
/// Byte-pair encoding: merges the pair of lowest rank, leftmost first, until none is left. Throws
/// Error(damaged) if the table lacks a part or the result of a merge.
[[nodiscard]] std::shared_ptr<const TokenModel> make_byte_pairs(TokenTable table,
                                                                const Merges& merges,
                                                                const BytePairSettings& settings);

/// Kind of a piece, with SentencePiece's numbers, which are also GGUF's token types.
enum class PieceKind {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6
};

/// Pieces in order of their ids. All lists have the same length.
struct ScoredPieces {
  std::vector<std::string> texts;
  std::vector<double> scores;
  std::vector<PieceKind> kinds;
};
/// Table of the pieces with their ids.
[[nodiscard]] TokenTable table_of(const ScoredPieces& pieces);

struct UnigramSettings {
  std::optional<std::int64_t> unknown;
  bool byte_fallback = false;
  /// Sums are in float, as in SentencePiece; tokenizer.json uses double.
  bool single_precision = false;
};
/// Unigram model: the most probable segmentation of a word into pieces (Viterbi; Kudo 2018). An
/// unknown character costs 10 more than the worst piece; adjacent ones form one token. Throws
/// Error(damaged).
[[nodiscard]] std::shared_ptr<const TokenModel> make_unigram(const ScoredPieces& pieces,
                                                             const UnigramSettings& settings);

/// The token of a byte: "<0x0A>" for 10.
[[nodiscard]] std::string byte_token(unsigned char byte);

/// Throws Error(usage): the vocabulary has no token for `part`.
[[noreturn]] void refuse_unknown(std::string_view part);

}  // namespace attnscope
