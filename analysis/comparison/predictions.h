// Agreement of the predictions of two models.
#pragma once

#include <cstdint>
#include <span>

namespace attnscope {

/// Agreement of a model with the reference over the items of a data set.
struct PredictionAgreement {
  std::int64_t items = 0;     ///< items with finite logits of both models
  std::int64_t agreeing = 0;  ///< items with the same class of the largest logit
  std::int64_t labelled = 0;  ///< items whose true class is known
  std::int64_t both_right = 0, only_reference_right = 0, only_other_right = 0, both_wrong = 0;
  std::int64_t not_finite = 0;  ///< items with NaN or Inf in a logit; not counted above
  /// Sum of the Jensen–Shannon divergences of the softmax of both logits.
  double sum_divergence_bits = 0;

  /// Adds one item; `true_class` is −1 if unknown. Throws Error(usage) if the numbers of classes
  /// differ or are 0.
  void add(std::span<const float> logits, std::span<const float> reference_logits, int true_class);

  [[nodiscard]] double share() const;            ///< agreeing / items; NaN without items
  [[nodiscard]] double standard_error() const;   ///< standard error of the share, √(p(1 − p)/n)
  [[nodiscard]] double mean_divergence() const;  ///< mean over items, in bits, 0 to 1
};

}  // namespace attnscope
