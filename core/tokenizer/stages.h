// The stages of a tokenizer next to its model: normalisation, splitting, added tokens, texts for
// display.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizer/aligned_text.h"
#include "core/tokenizer/encoding.h"

namespace attnscope {

/// The first stage of a tokenizer: normalisation of characters.
using Normalizer = std::function<AlignedText(const AlignedText&)>;

/// Makes the "normalizer" of a tokenizer.json; null leaves texts unchanged. Throws
/// Error(unsupported) naming the unsupported part, Error(damaged).
[[nodiscard]] Normalizer make_normalizer(const nlohmann::json& object,
                                         const std::string& place = "normalizer");

struct BertNormalization {
  bool clean = true;          ///< removes control characters; white space becomes spaces
  bool space_chinese = true;  ///< spaces around CJK ideographs
  bool strip_accents = true;  ///< NFD without marks
  bool lowercase = true;
};
[[nodiscard]] Normalizer bert_normalizer(const BertNormalization& settings);

/// The second stage: splitting into words, which tokens do not extend beyond. Splits the pieces
/// that are not tokens yet into smaller ones, and may rewrite them.
using PreTokenizer = std::function<void(std::vector<TextPiece>&)>;

/// Makes the "pre_tokenizer" of a tokenizer.json; null splits nothing. Throws Error(unsupported)
/// naming the unsupported part, Error(damaged).
[[nodiscard]] PreTokenizer make_pre_tokenizer(const nlohmann::json& object,
                                              const std::string& place = "pre_tokenizer");

/// The fourth stage: tokens added around a text or a pair of texts. Maps the tokens of one text, or
/// of two (types 0 and 1), to the tokens of the input.
using PostProcessor = std::function<std::vector<Encoding>(std::vector<Encoding>)>;

/// Makes the "post_processor" of a tokenizer.json; null adds nothing. Throws Error(unsupported)
/// naming the unsupported part, Error(damaged).
[[nodiscard]] PostProcessor make_post_processor(const nlohmann::json& object,
                                                const std::string& place = "post_processor");

/// BERT's format: [CLS] a [SEP], and [CLS] a [SEP] b [SEP] with type 1 from b on.
[[nodiscard]] PostProcessor bert_processor(std::int64_t cls, std::int64_t sep);
/// RoBERTa's format: <s> a </s>, and <s> a </s></s> b </s>, all of type 0.
[[nodiscard]] PostProcessor roberta_processor(std::int64_t cls, std::int64_t sep);
/// The format `before` a `after` b `after`, with type 1 for b. If `between_too`, `before` also
/// precedes b.
[[nodiscard]] PostProcessor around(const std::vector<std::int64_t>& before,
                                   const std::vector<std::int64_t>& after, bool between_too);

/// The last stage, applied per token: the text of each token for display. Maps a token of the
/// vocabulary to the bytes it stands for. Unlike in decoding of whole texts, continued words keep
/// their ##, and no spaces are stripped.
using TokenText = std::function<std::string(std::string)>;

/// Makes the "decoder" of a tokenizer.json; null leaves tokens unchanged. Throws Error(unsupported)
/// naming the unsupported part, Error(damaged).
[[nodiscard]] TokenText make_decoder(const nlohmann::json& object,
                                     const std::string& place = "decoder");

}  // namespace attnscope
