// Which tokens an answer rests on, by the gradient of its logit (Chefer et al. 2021).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/subject.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct TokenRelevance {
  std::int64_t target = 0;  ///< class or token
  std::string label;        ///< what it says; may be empty
  std::int64_t place = 0;   ///< the token that is read; of means over tokens -1
  double logit = 0;         ///< of the target
  /// [N]: the row of R of the token that is read, of a mean over tokens the mean of theirs. Its own
  /// token has 1 more than attention gave it.
  std::vector<double> tokens;
};

/// What a run must have recorded: maps and tokens.
void request_for_relevance(TraceRequest& request);

/// Ā = mean over heads of max(0, ∇W ⊙ W) of each layer, W the map as the mechanism runs it (with an
/// I of identity mapping), ∇W the gradient of the logit of `target` by the backward of
/// core/training; R ← R + Ā R from R = I through all layers (Chefer, Gur & Wolf 2021, Eq. 5 and 6).
/// One for each target; -1: the likeliest. `place`: of a language model the token after which is
/// read, -1 the last. Needs the subject's model and trace. Throws Error(unsupported) naming the
/// part of the model that has no backward, Error(usage) for what is missing or out of range and for
/// channels with maps of their own, Cancelled.
[[nodiscard]] std::vector<TokenRelevance> token_relevance(
    const Subject& subject, const std::vector<std::int64_t>& targets = {-1},
    std::int64_t place = -1, const Progress& progress = {});

}  // namespace attnscope
