// Texts continued by a language model, token by token.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

/// The choice of the next token from the probabilities softmax(logits / temperature).
struct TokenSampling {
  /// 0: always the likeliest token. At most 100.
  double temperature = 0;
  std::int64_t top_k = 0;  ///< only the k likeliest tokens; 0: all
  /// Only the likeliest tokens whose probabilities sum to at least p, 0 < p <= 1.
  double top_p = 1;
  std::uint64_t seed = 1;  ///< equal seeds give equal texts on every machine, but for rounding
};

struct GenerationSettings {
  std::int64_t tokens = 50;  ///< new tokens at most, at least 1
  TokenSampling sampling;
  /// Likeliest tokens that are recorded at every position.
  std::int64_t alternatives = 0;
};

struct TokenAlternative {
  std::int64_t id = 0;
  std::string text;        ///< bytes, which need not be whole characters
  double probability = 0;  ///< the model's, at temperature 1
};

struct GeneratedToken {
  std::int64_t position = 0;  ///< in the whole text, from 0
  TokenAlternative chosen;
  /// −Σ p log₂ p over the vocabulary, in bits.
  double entropy = 0;
  std::vector<TokenAlternative> alternatives;  ///< likeliest first
};

enum class GenerationEnd {
  count,   ///< GenerationSettings::tokens were made
  token,   ///< the last token stands for no text: </s>, <|endoftext|>
  context  ///< the model reads no longer text
};
inline constexpr EnumName<GenerationEnd> generation_end_names[] = {
    {GenerationEnd::count, "count"},
    {GenerationEnd::token, "end_token"},
    {GenerationEnd::context, "context"}};

struct GeneratedText {
  std::vector<std::int64_t> prompt;    ///< tokens of the text that was continued
  std::vector<GeneratedToken> tokens;  ///< the last one may stand for no text
  GenerationEnd end = GenerationEnd::count;
  /// True if the keys and values of earlier tokens were kept; otherwise the whole text was run for
  /// each new token (see Transformer::can_append).
  bool kept_keys = false;

  /// The new tokens, without a last one that stands for no text.
  [[nodiscard]] std::vector<std::int64_t> new_ids() const;
  /// Their text.
  [[nodiscard]] std::string text() const;
  /// The tokens of the whole text: `prompt` and new_ids.
  [[nodiscard]] std::vector<std::int64_t> ids() const;

 private:
  [[nodiscard]] std::span<const GeneratedToken> with_text() const;
};

/// Continues `input`, a text. `made` is called with each new token at once and may be empty. A
/// token that the tokenizer adds to the end of texts (</s>) is left out of the prompt. Throws
/// Error(usage) for models other than causal language models, inputs without tokens, settings out
/// of range and logits that are not finite; and Cancelled.
[[nodiscard]] GeneratedText generate(const Model& model, const Input& input,
                                     const MechanismChoice& mechanism,
                                     const GenerationSettings& settings,
                                     const std::function<void(const GeneratedToken&)>& made = {},
                                     const Progress& progress = {});

/// The locator of `input`, a text, followed by the tokens `more`: its characters if the tokenizer
/// splits the longer text into the same tokens, otherwise the ids of all tokens. Throws like
/// generate, and Error(usage) if the longer text does not fit into the model's context.
[[nodiscard]] std::string continued_locator(const Model& model, const Input& input,
                                            const std::vector<std::int64_t>& more);

/// The index of the next token by `sampling`, from logits and a number `at` in [0, 1). Throws
/// Error(usage) if a logit is NaN or all are −∞.
[[nodiscard]] std::int64_t next_token(const std::vector<double>& logits,
                                      const TokenSampling& sampling, double at);

}  // namespace attnscope
