// How well a language model foretells a text: how users know that it was loaded right.
#pragma once

#include <cstdint>

#include "core/input/text.h"
#include "core/model/model.h"

namespace attnscope {

struct TextEvaluation {
  std::int64_t predicted = 0;   ///< tokens that were foretold: all but the first of each stretch
  std::int64_t characters = 0;  ///< that those tokens say; tokens where their texts are not known
  double nats = 0;              ///< Σ −ln p of the tokens that came
  std::int64_t correct = 0;     ///< the token that came was the likeliest
  std::int64_t not_finite = 0;  ///< tokens without a finite probability; not in `nats`

  [[nodiscard]] double bits_per_token() const;
  [[nodiscard]] double bits_per_character() const;
};

/// Reads `text` in stretches of the model's full context, one after the other (the last may be
/// shorter), each without memory of the one before; every token but the text's first is foretold
/// once. The first `stretches` alone if above 0. Throws Error(usage) unless `model` is a language
/// model that can read the text; Cancelled.
[[nodiscard]] TextEvaluation evaluate_text(const Model& model, const MechanismChoice& mechanism,
                                           const Text& text, std::int64_t stretches,
                                           const Progress& progress);

}  // namespace attnscope
