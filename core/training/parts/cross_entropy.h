// The cross-entropy loss of training, with smoothed labels and with two classes per example.
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

/// The distribution t over C classes that each row of logits is compared with:
/// t = (1 − ε) (λ e_first + (1 − λ) e_second) + ε / C.
struct LossTargets {
  std::span<const std::int64_t> first;        ///< a class for each row
  std::span<const std::int64_t> second = {};  ///< the other class of mixed rows; empty: none
  double share = 1;                           ///< λ, 0 to 1: share of `first`
  double smoothing = 0;                       ///< ε, 0 to 1 (Szegedy et al. 2016, section 7)
};

/// Sums −Σ_c t_c ln softmax(logits)_c over the rows of [n, classes]. If `weight` is not 0, the
/// logits are replaced by the gradient of weight · Σ loss, which is weight · (softmax − t). Rows
/// are right if their largest logit is that of `first`. Throws Error(usage) for a target out of
/// range.
LossSum cross_entropy(Matrix& logits, const LossTargets& targets, float weight);

}  // namespace attnscope
