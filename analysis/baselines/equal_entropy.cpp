#include "analysis/baselines/equal_entropy.h"

#include <algorithm>
#include <cmath>

#include "analysis/baselines/null_model.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/map_entries.h"
#include "core/error.h"
#include "core/text/number_text.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

constexpr double kEntropyTolerance = 1e-6;
constexpr double kLeastTemperature = 1e-6, kGreatestTemperature = 1e6;

const std::string& tempered_mechanism(const Trace& trace, std::int64_t layer) {
  return mechanism_of(trace, trace.layers[static_cast<std::size_t>(layer)]).name;
}

/// The logarithms of a map's weights, from which its rows follow at every temperature.
class RowScores {
 public:
  RowScores(const MatrixD& map, const SeenKeys& seen) : scores_(map) {
    for (Eigen::Index i = 0; i < map.rows(); ++i) {
      auto row = scores_.row(i).array();
      const double greatest = row.maxCoeff();
      const std::int64_t keys = seen.count_of(i, map.cols());
      const bool counts = greatest > 0 && keys > 1;
      log_keys_.push_back(counts ? std::log(static_cast<double>(keys)) : 0);
      if (greatest > 0) row = (row > 0).select((row / greatest).log(), kNoWeight);
    }
  }

  /// h at the temperature; NaN if no row counts.
  [[nodiscard]] double entropy(double temperature) const {
    double sum = 0;
    std::int64_t rows = 0;
    for (Eigen::Index i = 0; i < scores_.rows(); ++i) {
      const double log_keys = log_keys_[static_cast<std::size_t>(i)];
      if (log_keys == 0) continue;
      const Eigen::ArrayXd at = row_at(i, temperature);
      const Eigen::ArrayXd weights = at.exp();
      const double total = weights.sum();
      sum += (std::log(total) - (weights * at).sum() / total) / log_keys;
      ++rows;
    }
    return rows > 0 ? sum / static_cast<double>(rows) : std::numeric_limits<double>::quiet_NaN();
  }

  /// Writes the rows at the temperature, each with its former sum; rows of zeros stay.
  void write(double temperature, MatrixD& map) const {
    for (Eigen::Index i = 0; i < map.rows(); ++i) {
      const double sum = map.row(i).sum();
      if (sum == 0) continue;
      const Eigen::ArrayXd weights = (scores_.row(i).transpose().array() > kNoWeight)
                                         .select(row_at(i, temperature).exp(), 0.0);
      map.row(i) = (weights * (sum / weights.sum())).matrix().transpose();
    }
  }

 private:
  static constexpr double kNoWeight = -1e300;  ///< score of a weight of 0
  static constexpr double kLeastScore = -700;  ///< its exp is above 0, and no weight next to 1

  [[nodiscard]] Eigen::ArrayXd row_at(Eigen::Index i, double temperature) const {
    return (scores_.row(i).transpose().array() / temperature).max(kLeastScore);
  }

  MatrixD scores_;                ///< [N, M], 0 at the greatest weight of each row
  std::vector<double> log_keys_;  ///< ln n_i; 0 for rows that are left out
};

bool is_of_weights(const MapEntries& entries) {
  return entries.not_finite == 0 && entries.least >= 0 && entries.greatest > 0;
}

}  // namespace

bool has_temperature(const Trace& trace, std::int64_t layer) {
  const std::string& name = tempered_mechanism(trace, layer);
  return std::ranges::any_of(
      mechanisms(), [&](const MechanismEntry& one) { return one.name == name && one.tempered; });
}

void check_temperature(const Trace& trace, std::int64_t layer) {
  if (has_temperature(trace, layer)) return;
  throw Error(ErrorKind::usage,
              tempered_mechanism(trace, layer) +
                  " attention has no temperature: its rows are no softmaxes of scores")
      .about(layer_name(trace, layer))
      .remedy("leave out --at-entropy; softmax, adder and Synthesizer attention have one");
}

void check_equal_entropy(double target, const MatrixChoice& analysed) {
  if (!(target > 0 && target < 1)) {
    throw Error(ErrorKind::usage, "the entropy of a row is a share of ln n")
        .about("--at-entropy")
        .expected("above 0, below 1")
        .found(exact(target));
  }
  if (analysed.is_map()) return;
  throw Error(ErrorKind::usage, "ranks at the same entropy are only defined for attention maps")
      .about("--at-entropy")
      .found(in_words(analysed));
}

double entropy_share(const MatrixD& map, const SeenKeys& seen) {
  return RowScores(map, seen).entropy(1);
}

TemperedMap temper_to_entropy(double target, const SeenKeys& seen, MatrixD& map) {
  const RowScores scores(map, seen);
  TemperedMap found;
  const auto miss = [&](double temperature) {
    found.temperature = temperature;
    found.entropy = scores.entropy(temperature);
    return found.entropy - target;
  };
  double error = miss(1);
  if (error != 0 && !std::isnan(error)) {
    // The bracket widens from T = 1, because most maps reach the target within a few powers of e.
    const double end = std::log(error > 0 ? kLeastTemperature : kGreatestTemperature);
    const bool above = error > 0;
    double near = 0, far = 0;
    for (double step = 0.5; std::abs(error) > kEntropyTolerance && (error > 0) == above &&
                            std::abs(far) < std::abs(end);
         step *= 2) {
      near = far;
      far = std::clamp(far + std::copysign(step, end), -std::abs(end), std::abs(end));
      error = miss(std::exp(far));
    }
    const bool bracketed = (error > 0) != above;
    for (int halving = 0; bracketed && std::abs(error) > kEntropyTolerance && halving < 100;
         ++halving) {
      const double middle = (near + far) / 2;
      error = miss(std::exp(middle));
      ((error > 0) == above ? near : far) = middle;
    }
  }
  found.reached = std::abs(error) <= kEntropyTolerance;
  if (!found.reached) {
    found.temperature = std::numeric_limits<double>::quiet_NaN();
  } else if (found.temperature != 1) {
    scores.write(found.temperature, map);
  }
  return found;
}

EntropyRank rank_at_entropy(const Trace& trace, const MapIndex& place, double target,
                            const MatrixChoice& analysed, const SpectrumOptions& options) {
  check_equal_entropy(target, analysed);
  check_temperature(trace, place.layer);
  EntropyRank found{place.layer, place.head, {}};
  MatrixD map = map_seen(trace, place, IdentityView::without);
  if (std::min(map.rows(), map.cols()) > options.dense_limit) {
    throw Error(ErrorKind::usage, "ranks at the same entropy are not computed for this many tokens")
        .about(layer_name(trace, place.layer))
        .expected("at most " + std::to_string(options.dense_limit))
        .found(std::to_string(std::min(map.rows(), map.cols())));
  }
  if (!is_of_weights(entries_of(map))) return found;
  const SeenKeys seen = seen_keys(trace.layers[static_cast<std::size_t>(place.layer)], map);
  found.tempered = temper_to_entropy(target, seen, map);
  if (!found.tempered.reached) return found;
  if (has_identity(trace, place.layer, analysed.identity)) map.diagonal().array() += 1;
  if (analysed.centred) take_mean_row_away(map);
  const MapSpectrum spectrum = spectrum_of_matrix(map, options);
  if (spectrum.state == SpectrumState::ready) {
    found.rank = static_cast<double>(spectrum.equivalent_rank);
  }
  return found;
}

double entropy_share_at(const Trace& trace, const MapIndex& place) {
  const MatrixD map = map_seen(trace, place, IdentityView::without);
  if (!is_of_weights(entries_of(map))) return std::numeric_limits<double>::quiet_NaN();
  return entropy_share(map, seen_keys(trace.layers[static_cast<std::size_t>(place.layer)], map));
}

std::vector<EntropyRank> ranks_at_entropy(const Trace& trace, double target,
                                          const MatrixChoice& analysed,
                                          const SpectrumOptions& options,
                                          const Progress& progress) {
  check_threshold(options.threshold);
  const std::vector<MapIndex> places = recorded_maps(trace, options.layers);
  std::vector<EntropyRank> ranks(places.size());
  for_each_map(
      trace, places, progress,
      [&](std::size_t index) {
        ranks[index] = rank_at_entropy(trace, places[index], target, analysed, options);
        return [] {};
      },
      "ranks at the same entropy");
  return ranks;
}

}  // namespace attnscope
