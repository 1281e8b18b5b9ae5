#include "analysis/spectrum/mean_spectrum.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "analysis/spectrum/rank.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Quantile q of ascending ranks, linear between neighbours.
double quantile(const std::vector<std::int64_t>& ranks, double q) {
  const double place = q * static_cast<double>(ranks.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ranks.size() - 1);
  const double part = place - static_cast<double>(below);
  return (1 - part) * static_cast<double>(ranks[below]) + part * static_cast<double>(ranks[above]);
}

RankDistribution distribution_of(std::vector<std::int64_t> ranks) {
  RankDistribution result;
  if (ranks.empty()) return result;
  std::sort(ranks.begin(), ranks.end());
  const auto count = static_cast<double>(ranks.size());
  result.mean =
      static_cast<double>(std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0})) / count;
  double squares = 0;
  for (const std::int64_t rank : ranks) {
    const double difference = static_cast<double>(rank) - result.mean;
    squares += difference * difference;
  }
  if (ranks.size() > 1) result.standard_deviation = std::sqrt(squares / (count - 1));
  result.minimum = ranks.front();
  result.maximum = ranks.back();
  result.lower_quartile = quantile(ranks, 0.25);
  result.median = quantile(ranks, 0.5);
  result.upper_quartile = quantile(ranks, 0.75);
  result.ranks = std::move(ranks);
  return result;
}

}  // namespace

MeanSpectrum mean_spectrum(std::span<const MapSpectrum> spectra, double threshold) {
  if (!(threshold > 0 && threshold <= 1)) {
    throw Error(ErrorKind::usage, "the threshold of the equivalent rank is out of range")
        .expected("above 0, at most 1")
        .found(to_string(ParameterValue(threshold)));
  }
  MeanSpectrum mean;
  mean.threshold = threshold;
  std::vector<std::int64_t> ranks;
  for (const MapSpectrum& spectrum : spectra) {
    if (spectrum.state != SpectrumState::ready) {
      ++mean.left_out;
      continue;
    }
    const std::vector<double> share = cumulative_share(spectrum.singular_values);
    if (mean.maps == 0) {
      mean.mean_share.assign(share.size(), 0);
      mean.low_share = mean.high_share = share;
    } else if (share.size() != mean.mean_share.size()) {
      throw Error(ErrorKind::usage, "maps of different sizes have no mean curve")
          .expected(std::to_string(mean.mean_share.size()) + " singular values")
          .found(std::to_string(share.size()));
    }
    ++mean.maps;
    for (std::size_t r = 0; r < share.size(); ++r) {
      mean.mean_share[r] += share[r];
      mean.low_share[r] = std::min(mean.low_share[r], share[r]);
      mean.high_share[r] = std::max(mean.high_share[r], share[r]);
    }
    ranks.push_back(rank_of_share(share, threshold));
  }
  for (double& share : mean.mean_share) share /= static_cast<double>(mean.maps);
  mean.rank_of_mean = rank_of_share(mean.mean_share, threshold);
  mean.ranks = distribution_of(std::move(ranks));
  return mean;
}

}  // namespace attnscope
