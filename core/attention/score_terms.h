// Terms that a model applies to its attention scores: soft cap, biases, hidden keys and sinks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Terms of the scores, applied in this order: soft cap, bias, hidden keys, sink.
struct ScoreTerms {
  /// Adds the bias of one query of one head to its scores [M]. Called from several threads at once.
  /// Empty if there is no bias.
  std::function<void(std::int64_t head, std::int64_t query, std::span<float> scores)> add_bias;
  /// The range [first, end) of keys that each query sees; empty if every query sees all keys.
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  double soft_cap = 0;       ///< c of c · tanh(score / c); 0: no cap
  std::vector<float> sinks;  ///< one extra logit per head, without a value; may be empty
  /// Description for errors: "ALiBi's biases, a window of 4 tokens".
  std::string names;

  [[nodiscard]] bool empty() const {
    return !add_bias && seen.empty() && soft_cap == 0 && sinks.empty();
  }
};

/// Applies `terms` except the sink to the scores [M] of one query of one head.
void apply_terms(const ScoreTerms& terms, std::int64_t head, std::int64_t query,
                 std::span<float> scores);

/// A function for ScoreTerms::add_bias that adds, and keeps, a bias [H or 1, N, M].
[[nodiscard]] std::function<void(std::int64_t, std::int64_t, std::span<float>)> bias_of(
    Tensor bias);

}  // namespace attnscope
