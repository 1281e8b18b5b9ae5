// What a model answers on its input: the likeliest classes, or the next tokens of a text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/subject.h"

namespace attnscope {

struct Answer {
  std::int64_t index = 0;  ///< of the logit
  std::string name;        ///< of the class or token; "class 7" where none is known
  double probability = 0;  ///< softmax over all logits
};

struct Prediction {
  std::vector<Answer> likeliest;     ///< the likeliest first; empty if a logit is not finite
  bool finite = true;                ///< whether every logit is
  bool next_token = false;           ///< tokens that would follow the text, not classes
  std::optional<Answer> true_class;  ///< where the input says which one it is

  /// Whether the likeliest is the true class; none where that is not known.
  [[nodiscard]] std::optional<bool> right() const;
};

/// The `most` likeliest answers of a subject's trace; none before it has run, without logits, or of
/// a model that says what masked tokens stand for.
[[nodiscard]] std::optional<Prediction> prediction_of(const Subject& subject, std::size_t most);

}  // namespace attnscope
