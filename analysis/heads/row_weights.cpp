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
      queries_of_key_(totals_.size(), 0),
      causal_(is_causal(weights_)) {
  for (Eigen::Index query = 0; query < weights_.rows(); ++query) {
    const std::span row(weights_.row(query).data(), totals_.size());
    entropies_.push_back(normalise(row, totals_));
    attends_.push_back((weights_.row(query).array() > 0).any());
    seen_.push_back(seen.count_of(query, weights_.cols()));
    if (!attends_.back()) continue;
    if (seen_.back() == weights_.cols()) {
      for (std::int64_t& queries : queries_of_key_) ++queries;
    } else {
      for (const std::int64_t key : seen.keys_of(query, weights_.cols())) {
        ++queries_of_key_[static_cast<std::size_t>(key)];
      }
    }
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

std::vector<double> RowWeights::shares_of_keys(std::int64_t least_queries) const {
  std::vector<double> shares(totals_.size(), HeadRow::kUnknown);
  for (std::size_t key = 0; key < totals_.size(); ++key) {
    const std::int64_t queries = queries_of_key_[key];
    if (queries < std::max<std::int64_t>(least_queries, 1)) continue;
    shares[key] = totals_[key] / static_cast<double>(queries);
  }
  return shares;
}

std::vector<double> RowWeights::sink_shares() const {
  constexpr std::int64_t kQueriesOfASink = 8;
  const auto most = std::ranges::max_element(queries_of_key_);
  return shares_of_keys(most == queries_of_key_.end() ? 0 : std::min(kQueriesOfASink, *most));
}

double RowWeights::strongest_sink() const {
  double strongest = HeadRow::kUnknown;
  for (const double share : sink_shares()) {
    if (!std::isnan(share)) strongest = std::isnan(strongest) ? share : std::max(strongest, share);
  }
  return strongest;
}

}  // namespace attnscope
