#include "analysis/heads/row_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/heads/row_entropy.h"

namespace attnscope {

HeadState state_of(const MatrixD& map) {
  if (map.size() == 0) return HeadState::zero;
  // NaN · 0 and ∞ · 0 are NaN: quicker than to ask each entry.
  if (!((map.array() * 0.0).sum() == 0)) return HeadState::not_finite;
  if (map.minCoeff() < 0) return HeadState::negative;
  return map.maxCoeff() == 0 ? HeadState::zero : HeadState::ready;
}

RowWeights::RowWeights(MatrixD map) : weights_(std::move(map)), causal_(is_causal(weights_)) {
  for (Eigen::Index query = 0; query < weights_.rows(); ++query) {
    const double sum = weights_.row(query).sum();
    if (sum > 0) weights_.row(query) /= sum;
    attends_.push_back((weights_.row(query).array() > 0).any());
    const auto keys = static_cast<std::size_t>(weights_.cols());
    entropies_.push_back(entropy_of({weights_.row(query).data(), keys}));
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
  Eigen::RowVectorXd sums = Eigen::RowVectorXd::Zero(weights_.cols());
  Eigen::RowVectorXd queries = Eigen::RowVectorXd::Zero(weights_.cols());
  for (Eigen::Index query = 0; query < weights_.rows(); ++query) {
    if (!attends(query)) continue;
    sums += weights_.row(query);
    queries.head(seen(query)).array() += 1;
  }
  const auto least = static_cast<double>(std::max<Eigen::Index>(least_queries, 1));
  std::vector<double> shares(static_cast<std::size_t>(weights_.cols()), HeadRow::kUnknown);
  for (Eigen::Index key = 0; key < weights_.cols(); ++key) {
    if (queries(key) >= least) shares[static_cast<std::size_t>(key)] = sums(key) / queries(key);
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
