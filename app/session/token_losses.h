// How well a language model foresaw each token of the text it was run on.
#pragma once

#include <vector>

#include "core/progress.h"

namespace attnscope {

struct OpenSubject;

/// −ln p of each token of the subject's input given those before it, in nats: the first, which
/// nothing foretells, is NaN; so is one without a finite probability. Runs the model once more,
/// with its maps changed as in the trace it has.
struct TokenLosses {
  std::vector<double> nats;
  /// Mean over the tokens that have one, in bits; NaN if none has.
  [[nodiscard]] double bits_per_token() const;
};

/// Whether the subject is a language model that has run on a text.
[[nodiscard]] bool has_token_losses(const OpenSubject& subject);

/// Throws Error(usage) for another, and for a text whose logits take more than 1 GiB; Cancelled.
[[nodiscard]] TokenLosses token_losses(const OpenSubject& subject, const Progress& progress = {});

}  // namespace attnscope
