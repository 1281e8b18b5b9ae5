#include "analysis/sweep/sweep_summary.h"

#include <algorithm>
#include <cmath>

#include "analysis/spectrum/mean_spectrum.h"
#include "analysis/spectrum/rank.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Standard deviation of a sample from its sum and sum of squares, guarded against rounding below
/// 0.
double deviation(double sum, double squares, std::int64_t count) {
  if (count < 2) return kUnknown;
  const auto n = static_cast<double>(count);
  return std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1)));
}

std::vector<std::int64_t> chosen_of(const std::vector<std::int64_t>& wanted, std::int64_t count,
                                    const char* what) {
  std::vector<std::int64_t> list = wanted;
  for (std::int64_t i = 0; wanted.empty() && i < count; ++i) list.push_back(i);
  for (const std::int64_t index : list) {
    if (index >= 0 && index < count) continue;
    throw Error(ErrorKind::usage, std::string("the sweep has no such ") + what)
        .expected("0 to " + std::to_string(count - 1))
        .found(std::to_string(index));
  }
  return list;
}

/// Members of a layer that hold the sums of a mean curve.
struct CurveSums {
  std::vector<std::int64_t> LayerSweep::*maps;
  std::vector<double> LayerSweep::*sums;
  std::vector<double> LayerSweep::*squares;
};
constexpr CurveSums kOfMaps = {&LayerSweep::maps, &LayerSweep::share_sums,
                               &LayerSweep::share_squares};
constexpr CurveSums kOfNullModels = {&LayerSweep::null_maps, &LayerSweep::null_share_sums,
                                     &LayerSweep::null_share_squares};

SweptSpectrum mean_curve(const SweepSeries& series, const std::vector<std::int64_t>& layers,
                         const std::vector<std::int64_t>& heads, double threshold,
                         const CurveSums& of) {
  SweptSpectrum spectrum;
  std::vector<double> sums, squares;
  for (const std::int64_t l : chosen_of(layers, std::ssize(series.layers), "layer")) {
    const LayerSweep& layer = series.layers[static_cast<std::size_t>(l)];
    const auto n = static_cast<std::size_t>(layer.values);
    if (sums.empty()) {
      sums.assign(n, 0);
      squares.assign(n, 0);
    }
    if (sums.size() != n) {
      throw Error(ErrorKind::usage, "maps of different sizes have no mean spectrum")
          .about(series.label)
          .expected(std::to_string(sums.size()) + " singular values")
          .found(std::to_string(n) + " in layer " + std::to_string(l))
          .remedy("choose layers of one size: --set layer=0");
    }
    for (const std::int64_t h : chosen_of(heads, layer.heads, "head")) {
      const auto head = static_cast<std::size_t>(h);
      spectrum.maps += (layer.*of.maps)[head];
      spectrum.left_out += layer.left_out[head];
      for (std::size_t r = 0; r < n; ++r) {
        sums[r] += (layer.*of.sums)[head * n + r];
        squares[r] += (layer.*of.squares)[head * n + r];
      }
    }
  }
  if (spectrum.maps == 0) return spectrum;
  for (std::size_t r = 0; r < sums.size(); ++r) {
    spectrum.mean_share.push_back(sums[r] / static_cast<double>(spectrum.maps));
    spectrum.standard_deviation.push_back(deviation(sums[r], squares[r], spectrum.maps));
  }
  spectrum.rank_of_mean = rank_of_share(spectrum.mean_share, threshold);
  return spectrum;
}

}  // namespace

SweptSpectrum swept_spectrum(const SweepSeries& series, const std::vector<std::int64_t>& layers,
                             const std::vector<std::int64_t>& heads, double threshold) {
  return mean_curve(series, layers, heads, threshold, kOfMaps);
}

SweptSpectrum swept_null_spectrum(const SweepSeries& series,
                                  const std::vector<std::int64_t>& layers,
                                  const std::vector<std::int64_t>& heads, double threshold) {
  for (const LayerSweep& layer : series.layers) {
    if (layer.null_spectra) continue;
    throw Error(ErrorKind::usage, "the sweep holds no spectra of null models")
        .about(series.label)
        .remedy("sweep again: attnscope sweep … --baselines --restart");
  }
  SweptSpectrum null = mean_curve(series, layers, heads, threshold, kOfNullModels);
  null.left_out = 0;
  return null;
}

double SweptRanks::quantile(double q) const {
  const auto rank_at = [this](std::int64_t position) {
    std::int64_t passed = 0;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      passed += counts[rank];
      if (passed > position) return static_cast<std::int64_t>(rank);
    }
    return std::ssize(counts) - 1;
  };
  return rank_quantile(maps, rank_at, q);
}

SweptRanks swept_ranks(const LayerSweep& layer, std::int64_t head, std::size_t threshold) {
  SweptRanks ranks;
  const auto sizes = static_cast<std::size_t>(layer.values) + 1;
  ranks.counts.assign(sizes, 0);
  const std::vector<std::int64_t> wanted =
      head < 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{head};
  for (const std::int64_t h : chosen_of(wanted, layer.heads, "head")) {
    const std::size_t first =
        (threshold * static_cast<std::size_t>(layer.heads) + static_cast<std::size_t>(h)) * sizes;
    for (std::size_t r = 0; r < sizes; ++r) ranks.counts[r] += layer.ranks[first + r];
  }
  double sum = 0, squares = 0;
  for (std::size_t r = 0; r < sizes; ++r) {
    const auto count = static_cast<double>(ranks.counts[r]), rank = static_cast<double>(r);
    ranks.maps += ranks.counts[r];
    sum += count * rank;
    squares += count * rank * rank;
  }
  if (ranks.maps > 0) ranks.mean = sum / static_cast<double>(ranks.maps);
  ranks.standard_deviation = deviation(sum, squares, ranks.maps);
  return ranks;
}

SweptStatistic swept_statistic(const StatisticSums& sums, std::int64_t head) {
  SweptStatistic statistic;
  double sum = 0, squares = 0;
  for (std::size_t h = 0; h < sums.counts.size(); ++h) {
    if ((head >= 0 && static_cast<std::int64_t>(h) != head) || sums.counts[h] == 0) continue;
    const bool is_first = statistic.count == 0;
    statistic.least = is_first ? sums.least[h] : std::min(statistic.least, sums.least[h]);
    statistic.greatest =
        is_first ? sums.greatest[h] : std::max(statistic.greatest, sums.greatest[h]);
    statistic.count += sums.counts[h];
    sum += sums.sums[h];
    squares += sums.squares[h];
  }
  if (statistic.count > 0) statistic.mean = sum / static_cast<double>(statistic.count);
  statistic.standard_deviation = deviation(sum, squares, statistic.count);
  return statistic;
}

std::size_t find_threshold(const SweepResult& result, double threshold) {
  std::string known;
  for (std::size_t i = 0; i < result.thresholds.size(); ++i) {
    if (std::abs(result.thresholds[i] - threshold) < 1e-12) return i;
    known += (known.empty() ? "" : ", ") + to_string(ParameterValue(result.thresholds[i]));
  }
  throw unknown_name("threshold of the sweep", to_string(ParameterValue(threshold)), known);
}

}  // namespace attnscope
