// A model's answer on its input: the most likely classes, or the next tokens of a text; and a
// language model's loss at each token of the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

struct Answer {
  std::int64_t index = 0;  ///< index of the logit
  std::string name;        ///< name of the class or token; "class 7" if it is unknown
  double probability = 0;  ///< softmax over all logits

  bool operator==(const Answer&) const = default;
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

struct OpenSubject;

/// A language model's loss at each token of the text it was run on: −ln p of each token of the
/// subject's input given the tokens before it, in nats. The first token, which has no prediction,
/// is NaN, as is a token without a finite probability. Computed by another run, with the maps
/// changed as in the present trace.
struct TokenLosses {
  std::vector<double> nats;
  /// Mean in bits over the tokens with a finite loss; NaN if there are none.
  [[nodiscard]] double bits_per_token() const;
};

/// True if the subject is a language model that has run on a text.
[[nodiscard]] bool has_token_losses(const OpenSubject& subject);

/// Throws Error(usage) for other subjects, and for a text whose logits take more than 1 GiB;
/// Cancelled.
[[nodiscard]] TokenLosses token_losses(const OpenSubject& subject, const Progress& progress = {});

}  // namespace attnscope
