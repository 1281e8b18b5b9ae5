// A model's answer on its input: the most likely classes, or the next tokens of a text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/subject.h"

namespace attnscope {

struct Answer {
  std::int64_t index = 0;  ///< index of the logit
  std::string name;        ///< name of the class or token; "class 7" if it is unknown
  double probability = 0;  ///< softmax over all logits
};

struct Prediction {
  std::vector<Answer> likeliest;  ///< most likely first; empty if a logit is not finite
  bool finite = true;             ///< true if all logits are finite
  bool next_token = false;        ///< true for tokens that would follow the text, false for classes
  std::optional<Answer> true_class;  ///< set if the input specifies it

  /// True if the most likely class is the true one; nullopt if that is unknown.
  [[nodiscard]] std::optional<bool> right() const;
};

/// The `most` most likely answers of a subject's trace; nullopt before it has run, without logits,
/// or for a masked language model.
[[nodiscard]] std::optional<Prediction> prediction_of(const Subject& subject, std::size_t most);

}  // namespace attnscope
