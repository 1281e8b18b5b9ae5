// What a model adds to the scores of its attention, or hides of them, whatever makes the scores.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Taken in this order: the soft cap, the bias, the keys that are not seen, the sink.
struct ScoreTerms {
  /// Adds the bias of one query of one head to its scores [M]. Called from several threads at once;
  /// none if empty.
  std::function<void(std::int64_t head, std::int64_t query, std::span<float> scores)> add_bias;
  /// Of each query the first key it sees and the end of those it sees; empty: it sees all.
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  double soft_cap = 0;       ///< c · tanh(score / c); 0: none
  std::vector<float> sinks;  ///< of each head: one more logit, whose weight no value has; or empty
  /// What they are, for errors: "ALiBi's biases, a window of 4 tokens".
  std::string names;

  [[nodiscard]] bool empty() const {
    return !add_bias && seen.empty() && soft_cap == 0 && sinks.empty();
  }
};

/// Applies `terms` to the scores of one query of one head, [M], but for the sink.
void apply_terms(const ScoreTerms& terms, std::int64_t head, std::int64_t query,
                 std::span<float> scores);

/// Adds a bias [H or 1, N, M], which the result keeps.
[[nodiscard]] std::function<void(std::int64_t, std::int64_t, std::span<float>)> bias_of(
    Tensor bias);

}  // namespace attnscope
