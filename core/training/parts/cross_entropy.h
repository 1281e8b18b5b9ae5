// Cross-entropy loss of logits, with its gradient.
#pragma once

#include <cstdint>
#include <span>

#include "core/tensor/tensor.h"

namespace attnscope {

/// The sum over several predictions.
struct LossSum {
  double loss = 0;         ///< nats
  std::int64_t right = 0;  ///< number of targets with the largest logit; the first of ties wins
  std::int64_t count = 0;

  LossSum& operator+=(const LossSum& other);
};

/// Sums −ln softmax(logits)[target] over the rows of [n, classes]. If `weight` is not 0, the logits
/// are replaced by the gradient of weight · Σ loss. Throws Error(usage) for a target out of range.
LossSum cross_entropy(Matrix& logits, std::span<const std::int64_t> targets, float weight);

}  // namespace attnscope
