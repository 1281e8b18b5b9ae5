// How a language model's texts become tokens, and tokens texts.
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

  /// The tokens of a text. Throws Error(usage) naming the character the vocabulary lacks and where
  /// it stands, or the byte that is no valid UTF-8.
  [[nodiscard]] virtual std::vector<std::int64_t> encode(const std::string& text) const = 0;
  /// What a token says: the bytes of a text, which need not be whole characters. 0 <= id < size.
  [[nodiscard]] virtual std::string text_of(std::int64_t id) const = 0;

  /// The tokens of a text, or of a pair of texts (second not null), with their segments and places.
  /// Throws as encode, and Error(unsupported) for a pair where tokens make no difference of it.
  [[nodiscard]] virtual Encoding encode_texts(const std::string& first,
                                              const std::string* second) const;
  /// Whether a token stands for no text of its own: [CLS], <s>, <|endoftext|>.
  [[nodiscard]] virtual bool is_special(std::int64_t) const { return false; }
  /// Whether text_of is what tokens say, not their numbers alone.
  [[nodiscard]] virtual bool says_texts() const { return true; }
  /// One more than the greatest number of a token; 0 where that is not known.
  [[nodiscard]] virtual std::int64_t size() const { return 0; }
};

/// As spec.input.tokenizer says; files are read from `folder`. `keys`: of a weight file that has
/// its tokenizer inside, else null. Throws Error; but a tokenizer that cannot be read leaves ids,
/// and throws only when it is given a text.
[[nodiscard]] std::shared_ptr<const Vocabulary> make_vocabulary(const ModelSpec& spec,
                                                                const std::filesystem::path& folder,
                                                                const KeyValues* keys = nullptr);

/// A text's tokens: one entry a token in the first three lists.
struct TokenizedText {
  std::vector<std::int64_t> ids;
  std::vector<std::string> texts;     ///< what each says
  std::vector<std::int64_t> types;    ///< of segments: 0, or 1 in most second texts of pairs
  std::vector<std::int64_t> special;  ///< places of tokens that stand for no text, in order
};

/// Of a pair with the tokens around and between the texts that the tokenizer puts there. Throws
/// Error(usage) for ids outside the vocabulary and, unless `any_length`, more tokens than
/// spec.input.context; and for a pair where a language model is to go on.
[[nodiscard]] TokenizedText tokenize(const Text& text, const ModelSpec& spec,
                                     const Vocabulary& vocabulary, bool any_length = false);

/// What the decoder of an encoder–decoder is given of an input: its second text behind the start
/// token, without the last token if that only ends a text, as the model was trained; without a
/// second text the start token alone; numbered tokens as they are. Throws as tokenize, and
/// Error(usage) where the start token is not known.
[[nodiscard]] TokenizedText tokenize_for_decoder(const Input& input, const ModelSpec& spec,
                                                 const Vocabulary& vocabulary);

/// Of an input, which must be a text; of a pair for an encoder–decoder, the first. Throws
/// Error(usage) naming it.
[[nodiscard]] TokenizedText tokenize_input(const Input& input, const ModelSpec& spec,
                                           const Vocabulary& vocabulary);

}  // namespace attnscope
