// Relevance of each token to an answer, from the gradient of its logit (Chefer et al. 2021).
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
  std::string label;        ///< name of the class or token; may be empty
  std::int64_t place = 0;   ///< token position that is read; −1 for a mean over tokens
  double logit = 0;         ///< logit of the target; NaN if it was not recorded
  /// [N]: row of R of the token position that is read, or the mean of the rows. It includes the
  /// identity: 1 for the token itself.
  std::vector<double> tokens;
};

/// Adds to `request` the tensors that relevance needs: maps and tokens.
void request_for_relevance(TraceRequest& request);

/// Computes one relevance per target: Ā is the mean over heads of max(0, ∇W ⊙ W) of each layer,
/// with W the map as the mechanism runs it (with the I of an identity mapping) and ∇W the gradient
/// of the logit of `target` by the backward of core/training; R ← R + Ā R from R = I through all
/// layers (Chefer, Gur & Wolf 2021, Eq. 5 and 6). Target −1 selects the likeliest. `place`: token
/// position that a language model reads, −1 for the last. Needs the subject's model and trace.
/// Throws Error(unsupported) naming the part of the model that has no backward; Error(usage) for
/// missing tensors, values out of range, and maps per channel; Cancelled.
[[nodiscard]] std::vector<TokenRelevance> token_relevance(
    const Subject& subject, const std::vector<std::int64_t>& targets = {-1},
    std::int64_t place = -1, const Progress& progress = {});

}  // namespace attnscope
