// Measures how well a language model predicts a text, a check that it was loaded correctly.
#pragma once

#include <cstdint>
#include <vector>

#include "core/input/item_choice.h"
#include "core/input/text.h"
#include "core/model/model.h"

namespace attnscope {

struct TextEvaluation {
  std::int64_t chunks = 0;      ///< number of chunks that were read
  std::int64_t of_chunks = 0;   ///< number of chunks in the text
  std::int64_t predicted = 0;   ///< number of predicted tokens
  std::int64_t characters = 0;  ///< characters of the tokens in `nats`; 0 if unknown
  double nats = 0;              ///< Σ −ln p of the actual tokens
  std::int64_t correct = 0;     ///< number of times that the actual token was the most likely one
  std::int64_t not_finite = 0;  ///< number of tokens without a finite probability, not in `nats`

  /// NaN if no token has a finite probability.
  [[nodiscard]] double bits_per_token() const;
  [[nodiscard]] double bits_per_character() const;
};

/// One chunk of a text: the tokens that are read, and the token that follows each.
struct TextChunk {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> next;        ///< `next[i]` follows `ids[i]`
  std::vector<std::int64_t> characters;  ///< characters of each token of `next`; 0 if unknown
};

/// Splits `text` into consecutive chunks of the model's context, at most 2048 tokens; the last may
/// be shorter. Chunks are independent, and every token but the first of the text is predicted once.
/// Throws Error(usage) unless `model` is a language model that can read the text.
[[nodiscard]] std::vector<TextChunk> text_chunks(const Model& model, const Text& text);

/// Evaluates the chosen chunks of `text`, in parallel; see text_chunks. Throws Error(usage)
/// unless `model` is a language model that can read the text. Throws Cancelled.
[[nodiscard]] TextEvaluation evaluate_text(const Model& model, const MechanismChoice& mechanism,
                                           const Text& text, const ItemChoice& choice,
                                           const Progress& progress);

}  // namespace attnscope
