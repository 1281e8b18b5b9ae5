#include "core/attention/score_terms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace attnscope {

void apply_terms(const ScoreTerms& terms, std::int64_t head, std::int64_t query,
                 std::span<float> scores) {
  if (terms.soft_cap > 0) {
    const auto cap = static_cast<float>(terms.soft_cap);
    for (float& score : scores) score = cap * std::tanh(score / cap);
  }
  if (terms.add_bias) terms.add_bias(head, query, scores);
  if (terms.seen.empty()) return;
  const auto [first, end] = terms.seen[static_cast<std::size_t>(query)];
  constexpr float hidden = -std::numeric_limits<float>::infinity();
  std::fill(scores.begin(), scores.begin() + first, hidden);
  std::fill(scores.begin() + end, scores.end(), hidden);
}

std::function<void(std::int64_t, std::int64_t, std::span<float>)> bias_of(Tensor bias) {
  const auto kept = std::make_shared<const Tensor>(std::move(bias));
  return [kept](std::int64_t head, std::int64_t query, std::span<float> scores) {
    const std::int64_t heads = kept->extent(0), queries = kept->extent(1), keys = kept->extent(2);
    const float* const row = kept->data() + ((head % heads) * queries + query) * keys;
    for (std::size_t j = 0; j < scores.size(); ++j) scores[j] += row[j];
  };
}

}  // namespace attnscope
