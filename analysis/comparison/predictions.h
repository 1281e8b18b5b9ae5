// How often two models say the same.
#pragma once

#include <cstdint>
#include <span>

namespace attnscope {

/// Over the items of a data set, of a model beside the reference.
struct PredictionAgreement {
  std::int64_t items = 0;     ///< with finite logits of both
  std::int64_t agreeing = 0;  ///< the largest logit is the same class's
  std::int64_t labelled = 0;  ///< of the items, those whose true class is known
  std::int64_t both_right = 0, only_reference_right = 0, only_other_right = 0, both_wrong = 0;
  std::int64_t not_finite = 0;     ///< items with NaN or Inf in a logit: not counted above
  double sum_divergence_bits = 0;  ///< Jensen–Shannon, of the softmax of both logits, summed

  /// One item; `true_class` −1 where it is not known. Throws Error(usage) if the counts of classes
  /// differ or there are none.
  void add(std::span<const float> logits, std::span<const float> reference_logits, int true_class);

  [[nodiscard]] double share() const;            ///< agreeing / items; NaN without items
  [[nodiscard]] double standard_error() const;   ///< of the share, √(p(1 − p)/n)
  [[nodiscard]] double mean_divergence() const;  ///< in bits, 0 to 1
};

}  // namespace attnscope
