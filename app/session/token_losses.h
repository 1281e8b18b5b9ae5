// A language model's loss at each token of the text it was run on.
#pragma once

#include <vector>

#include "core/progress.h"

namespace attnscope {

struct OpenSubject;

/// −ln p of each token of the subject's input given the tokens before it, in nats. The first token,
/// which has no prediction, is NaN, as is a token without a finite probability. Computed by another
/// run, with the maps changed as in the present trace.
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
