// Rows of a map as distributions over keys, and measures of them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/heads/head_table.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Map with rows divided by their sums. The map must have the state `ready`.
class RowWeights {
 public:
  /// `seen` holds the keys that the map's queries see (seen_keys).
  RowWeights(MatrixD map, const SeenKeys& seen);

  [[nodiscard]] const MatrixD& matrix() const { return weights_; }
  [[nodiscard]] bool causal() const { return causal_; }
  /// True if query i attends to some key.
  [[nodiscard]] bool attends(Eigen::Index query) const {
    return attends_[static_cast<std::size_t>(query)];
  }
  /// n_i, number of keys that query i sees, also within sliding windows and windows of a grid.
  [[nodiscard]] std::int64_t seen(Eigen::Index query) const {
    return seen_[static_cast<std::size_t>(query)];
  }

  /// Mean entropy −Σ_j a_ij ln a_ij in nats over queries that attend to some key.
  [[nodiscard]] double entropy() const;
  /// Mean of entropy / ln n_i over queries that see more than one key, as entropy_share.
  [[nodiscard]] double normalised_entropy() const;
  /// α_k of every key; NaN if fewer than `least_queries` queries see it.
  [[nodiscard]] std::vector<double> shares_of_keys(std::int64_t least_queries) const;
  /// α_k of keys that at least 8 queries see (if no key is seen by so many: as many as see the most
  /// seen one), NaN for the other keys: the last keys of a causal map are seen only by the last
  /// queries.
  [[nodiscard]] std::vector<double> sink_shares() const;
  /// Greatest of sink_shares(); NaN if all are NaN.
  [[nodiscard]] double strongest_sink() const;
  /// Mean of a_i,key(i) over queries from `first` on that attend to some key and see several.
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
  std::vector<double> totals_;                // column sums per key, over queries that attend
  std::vector<std::int64_t> queries_of_key_;  // per key, queries that attend and see it
  std::vector<bool> attends_;                 // per query
  std::vector<double> entropies_;             // per query, in nats
  std::vector<std::int64_t> seen_;            // per query
  bool causal_;
};

/// State of a map: not finite, negative, zero or ready.
[[nodiscard]] HeadState state_of(const MatrixD& map);

}  // namespace attnscope
