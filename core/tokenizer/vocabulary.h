// Conversion between texts and tokens of a model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/input/input.h"
#include "core/tokenizer/encoding.h"

namespace attnscope {

class KeyValues;

class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  /// The tokens of a text. Throws Error(usage) with the character that the vocabulary lacks and its
  /// position, or with the invalid UTF-8 byte.
  [[nodiscard]] virtual std::vector<std::int64_t> encode(const std::string& text) const = 0;
  /// The text of a token, whose bytes need not be whole characters. 0 <= id < size.
  [[nodiscard]] virtual std::string text_of(std::int64_t id) const = 0;

  /// The tokens of a text, or of a pair of texts (second not null), with segment types and byte
  /// ranges. Throws like encode, and Error(unsupported) for a pair if the tokenizer does not
  /// support pairs.
  [[nodiscard]] virtual Encoding encode_texts(const std::string& first,
                                              const std::string* second) const;
  /// True if chat_text can be called.
  [[nodiscard]] virtual bool has_chat() const { return false; }
  /// The whole text of a first message to an assistant, after `pictures` pictures, up to where the
  /// answer begins: the model's chat template. Throws Error(usage) if it has none, and
  /// Error(unsupported) for a template that is not understood.
  [[nodiscard]] virtual std::string chat_text(const std::string& message,
                                              std::size_t pictures) const;
  /// True if a token stands for no text: [CLS], <s>, <|endoftext|>.
  [[nodiscard]] virtual bool is_special(std::int64_t) const { return false; }
  /// True if text_of returns the texts of tokens, not only their ids.
  [[nodiscard]] virtual bool says_texts() const { return true; }
  /// The greatest token id plus 1; 0 if unknown.
  [[nodiscard]] virtual std::int64_t size() const { return 0; }
};

/// Makes the vocabulary that spec.input.tokenizer specifies; files are read from `folder`. `keys`:
/// keys of a weight file that contains its tokenizer, else null. Throws Error. If a tokenizer file
/// cannot be read, the result supports only ids and throws when it is given a text.
[[nodiscard]] std::shared_ptr<const Vocabulary> make_vocabulary(const ModelSpec& spec,
                                                                const std::filesystem::path& folder,
                                                                const KeyValues* keys = nullptr);

/// The tokens of a text. The first three lists have one entry per token.
struct TokenizedText {
  std::vector<std::int64_t> ids;
  std::vector<std::string> texts;     ///< text of each token
  std::vector<std::int64_t> types;    ///< segment types: 0, or 1 in most second texts of pairs
  std::vector<std::int64_t> special;  ///< positions of tokens that stand for no text, ascending
};

/// Tokenizes a text or a pair, including the tokens that the tokenizer adds around and between the
/// texts. Throws Error(usage) for ids outside the vocabulary, for more tokens than
/// spec.input.context unless `any_length`, and for a pair given to a language model.
[[nodiscard]] TokenizedText tokenize(const Text& text, const ModelSpec& spec,
                                     const Vocabulary& vocabulary, bool any_length = false);

/// Decoder input of an encoder–decoder: the start token followed by the second text, without a
/// final special token, as in training; only the start token without a second text; token ids
/// unchanged. Throws like tokenize, and Error(usage) if the start token is unknown.
[[nodiscard]] TokenizedText tokenize_for_decoder(const Input& input, const ModelSpec& spec,
                                                 const Vocabulary& vocabulary);

/// Tokenizes an input, which must be a text; for encoder–decoders, only the first text of a pair.
/// Throws Error(usage) naming the input.
[[nodiscard]] TokenizedText tokenize_input(const Input& input, const ModelSpec& spec,
                                           const Vocabulary& vocabulary);

}  // namespace attnscope
