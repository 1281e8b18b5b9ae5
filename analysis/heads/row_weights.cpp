#include "analysis/heads/row_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/heads/row_entropy.h"
#include "analysis/spectrum/map_entries.h"

namespace attnscope {

HeadState state_of(const MatrixD& map) {
  if (map.size() == 0) return HeadState::zero;
  const MapEntries entries = entries_of(map);
  if (entries.not_finite > 0) return HeadState::not_finite;
  if (entries.least < 0) return HeadState::negative;
  return entries.greatest == 0 ? HeadState::zero : HeadState::ready;
}

RowWeights::RowWeights(MatrixD map, const SeenKeys& seen)
    : weights_(std::move(map)),
      totals_(static_cast<std::size_t>(weights_.cols()), 0.0),
      causal_(is_causal(weights_)) {
  for (Eigen::Index query = 0; query < weights_.rows(); ++query) {
    const std::span row(weights_.row(query).data(), totals_.size());
    entropies_.push_back(normalise(row, totals_));
    attends_.push_back((weights_.row(query).array() > 0).any());
    seen_.push_back(seen.count_of(query, weights_.cols()));
  }
}

double RowWeights::entropy() const {
  double sum = 0;
  Eigen::Index count = 0;
  for (Eigen::Index query = 0; query < weights_.rows(); ++query) {
    if (!attends(query)) continue;
    sum += entropies_[static_cast<std::size_t>(query)];
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : HeadRow::kUnknown;
}

double RowWeights::normalised_entropy() const {
  return mean_over(0, [this](Eigen::Index query) {
    return entropies_[static_cast<std::size_t>(query)] / std::log(static_cast<double>(seen(query)));
  });
}

std::vector<double> RowWeights::shares_of_keys(Eigen::Index least_queries) const {
  // Each query is counted at the last key it sees; the suffix sum below counts it for all earlier
  // keys.
  std::vector<double> queries(totals_.size() + 1, 0.0);
  for (Eigen::Index query = 0; query < weights_.rows(); ++query) {
    const Eigen::Index last = causal_ ? query : weights_.cols() - 1;
    if (attends(query)) queries[static_cast<std::size_t>(last)] += 1;
  }
  for (std::size_t key = totals_.size(); key-- > 0;) queries[key] += queries[key + 1];
  const auto least = static_cast<double>(std::max<Eigen::Index>(least_queries, 1));
  std::vector<double> shares(static_cast<std::size_t>(weights_.cols()), HeadRow::kUnknown);
  for (std::size_t key = 0; key < totals_.size(); ++key) {
    if (queries[key] >= least) shares[key] = totals_[key] / queries[key];
  }
  return shares;
}

std::vector<double> RowWeights::sink_shares() const {
  constexpr Eigen::Index kQueriesOfASink = 8;
  return shares_of_keys(std::min(kQueriesOfASink, weights_.rows()));
}

double RowWeights::strongest_sink() const {
  double strongest = HeadRow::kUnknown;
  for (const double share : sink_shares()) {
    if (!std::isnan(share)) strongest = std::isnan(strongest) ? share : std::max(strongest, share);
  }
  return strongest;
}

}  // namespace attnscope
