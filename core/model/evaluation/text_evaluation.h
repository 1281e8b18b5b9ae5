// How well a language model predicts a text: how users know that it was loaded right.
#pragma once

#include <cstdint>
#include <vector>

#include "core/input/item_choice.h"
#include "core/input/text.h"
#include "core/model/model.h"

namespace attnscope {

struct TextEvaluation {
  std::int64_t stretches = 0;     ///< of the model's context that were read
  std::int64_t of_stretches = 0;  ///< that the text has
  std::int64_t predicted = 0;     ///< tokens that were predicted: all but the text's first
  std::int64_t characters = 0;    ///< that the tokens in `nats` say; 0 where texts are not known
  double nats = 0;                ///< Σ −ln p of the tokens that came
  std::int64_t correct = 0;       ///< the token that came was the likeliest
  std::int64_t not_finite = 0;    ///< tokens without a finite probability; not in `nats`

  /// NaN where no token has a finite probability.
  [[nodiscard]] double bits_per_token() const;
  [[nodiscard]] double bits_per_character() const;
};

/// What is asked of a language model in one stretch of a text: what comes after each token.
struct TextStretch {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> next;        ///< `next[i]` comes after `ids[i]`
  std::vector<std::int64_t> characters;  ///< that `next` say; 0 where texts are not known
};

/// `text` in stretches of the model's full context, at most 2048 tokens, one after the other (the
/// last may be shorter), each without memory of the one before; every token but the text's first is
/// predicted once. Throws Error(usage) unless `model` is a language model that can read the text.
[[nodiscard]] std::vector<TextStretch> text_stretches(const Model& model, const Text& text);

/// Reads `text` in stretches of the model's full context, at most 2048 tokens, one after the other
/// (the last may be shorter), each without memory of the one before; every token but the text's
/// first is predicted once. Only the chosen stretches are read. Throws Error(usage) unless `model`
/// is a language model that can read the text; Cancelled.
[[nodiscard]] TextEvaluation evaluate_text(const Model& model, const MechanismChoice& mechanism,
                                           const Text& text, const ItemChoice& choice,
                                           const Progress& progress);

}  // namespace attnscope
