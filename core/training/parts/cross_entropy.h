// The loss of logits, with its gradient.
#pragma once

#include <cstdint>
#include <span>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Of several predictions, summed.
struct LossSum {
  double loss = 0;         ///< nats
  std::int64_t right = 0;  ///< whose greatest logit is the target's; ties go to the first
  std::int64_t count = 0;

  LossSum& operator+=(const LossSum& other);
};

/// −ln softmax(logits)[target] of each row [n, classes]. With `weight` other than 0 the logits
/// become the gradient of weight · Σ loss. Throws Error(usage) for a target that is no class.
LossSum cross_entropy(Matrix& logits, std::span<const std::int64_t> targets, float weight);

}  // namespace attnscope
