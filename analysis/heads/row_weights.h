// A map as each query's distribution over keys, and what follows from it alone.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/heads/head_table.h"
#include "analysis/spectrum/causal_map.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Rows divided by their sums. Only of maps that are `ready`.
class RowWeights {
 public:
  explicit RowWeights(MatrixD map);

  [[nodiscard]] const MatrixD& matrix() const { return weights_; }
  [[nodiscard]] bool causal() const { return causal_; }
  /// Whether query i attends to anything.
  [[nodiscard]] bool attends(Eigen::Index query) const {
    return attends_[static_cast<std::size_t>(query)];
  }
  /// How many keys query i sees.
  [[nodiscard]] Eigen::Index seen(Eigen::Index query) const {
    return causal_ ? query + 1 : weights_.cols();
  }

  /// Mean over queries that attend of −Σ_j a_ij ln a_ij, in nats.
  [[nodiscard]] double entropy() const;
  /// The same divided by ln of the keys seen, of queries that see more than one.
  [[nodiscard]] double normalised_entropy() const;
  /// α_k of every key; NaN where fewer than `least_queries` queries see it.
  [[nodiscard]] std::vector<double> shares_of_keys(Eigen::Index least_queries) const;
  /// α_k of keys that eight queries see, of all where there are fewer queries: the last ones of a
  /// causal map are seen by themselves alone. NaN for the others.
  [[nodiscard]] std::vector<double> sink_shares() const;
  /// The greatest of them; NaN if there is none.
  [[nodiscard]] double strongest_sink() const;
  /// Mean of a_i,key(i) over queries that attend and see other keys too, from query `first` on.
  template <class Key>
  [[nodiscard]] double mean_weight(Eigen::Index first, const Key& key) const {
    return mean_over(first, [&](Eigen::Index query) { return weights_(query, key(query)); });
  }

 private:
  template <class Value>
  [[nodiscard]] double mean_over(Eigen::Index first, const Value& value) const {
    double sum = 0;
    Eigen::Index count = 0;
    for (Eigen::Index query = first; query < weights_.rows(); ++query) {
      if (seen(query) < 2 || !attends(query)) continue;
      sum += value(query);
      ++count;
    }
    return count > 0 ? sum / static_cast<double>(count) : HeadRow::kUnknown;
  }

  MatrixD weights_;
  std::vector<double> totals_;     // each key's, over the queries that attend
  std::vector<bool> attends_;      // each query
  std::vector<double> entropies_;  // each query's, in nats
  bool causal_;
};

/// NaN, Inf, negative, all zero, or ready.
[[nodiscard]] HeadState state_of(const MatrixD& map);

}  // namespace attnscope
