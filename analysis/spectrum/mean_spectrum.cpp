#include "analysis/spectrum/mean_spectrum.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/rank.h"

namespace attnscope {

namespace {

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
  const auto quantile = [&ranks](double q) {
    return rank_quantile(
        std::ssize(ranks), [&](std::int64_t i) { return ranks[static_cast<std::size_t>(i)]; }, q);
  };
  result.lower_quartile = quantile(0.25);
  result.median = quantile(0.5);
  result.upper_quartile = quantile(0.75);
  result.ranks = std::move(ranks);
  return result;
}

/// f resampled to `count` points of the relative rank, interpolated linearly with f(0) = 0.
std::vector<double> stretched(const std::vector<double>& share, std::size_t count) {
  if (share.size() == count) return share;
  std::vector<double> result(count);
  for (std::size_t r = 0; r < count; ++r) {
    const double place =
        static_cast<double>(r + 1) * static_cast<double>(share.size()) / static_cast<double>(count);
    const auto below = std::min(static_cast<std::size_t>(place), share.size());
    const double low = below == 0 ? 0 : share[below - 1];
    const double high = share[std::min(below, share.size() - 1)];
    result[r] = low + (place - static_cast<double>(below)) * (high - low);
  }
  return result;
}

}  // namespace

double rank_quantile(std::int64_t count, const std::function<std::int64_t(std::int64_t i)>& rank_at,
                     double q) {
  if (count == 0) return RankDistribution::kUnknown;
  const double place = q * static_cast<double>(count - 1);
  const auto below = static_cast<std::int64_t>(place);
  const double part = place - static_cast<double>(below);
  return (1 - part) * static_cast<double>(rank_at(below)) +
         part * static_cast<double>(rank_at(std::min(below + 1, count - 1)));
}

MeanSpectrum mean_spectrum(std::span<const MapSpectrum> spectra, const RankThreshold& threshold) {
  check_threshold(threshold);
  MeanSpectrum mean;
  mean.threshold = threshold;
  std::size_t longest = 0;
  for (const MapSpectrum& spectrum : spectra) {
    if (spectrum.state != SpectrumState::ready) continue;
    const std::size_t values = spectrum.singular_values.size();
    mean.relative = mean.relative || (longest != 0 && values != longest);
    longest = std::max(longest, values);
  }
  std::vector<std::int64_t> ranks;
  for (const MapSpectrum& spectrum : spectra) {
    if (spectrum.state != SpectrumState::ready) {
      ++mean.left_out;
      continue;
    }
    const std::vector<double> own = cumulative_share(spectrum, threshold.of);
    const std::vector<double> share = stretched(own, longest);
    if (mean.maps == 0) {
      mean.mean_share.assign(longest, 0);
      mean.low_share = mean.high_share = share;
    }
    ++mean.maps;
    for (std::size_t r = 0; r < share.size(); ++r) {
      mean.mean_share[r] += share[r];
      mean.low_share[r] = std::min(mean.low_share[r], share[r]);
      mean.high_share[r] = std::max(mean.high_share[r], share[r]);
    }
    ranks.push_back(rank_of_share(own, threshold.level));
  }
  for (double& share : mean.mean_share) share /= static_cast<double>(mean.maps);
  mean.rank_of_mean = rank_of_share(mean.mean_share, threshold.level);
  mean.ranks = distribution_of(std::move(ranks));
  return mean;
}

}  // namespace attnscope
