// Compares trainings before the first step, at equal steps and at equal accuracy, and there also at
// equal entropy: mean and deviation over seeds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/training/training_history.h"

namespace attnscope {

/// Mean over runs. The deviation of one run is NaN; without runs both are NaN.
struct SeedMean {
  double mean = 0, deviation = 0;  ///< mean and deviation of the sample (n − 1)
  std::int64_t runs = 0;
};
/// Mean and deviation of the numbers that are not NaN.
[[nodiscard]] SeedMean seed_mean(std::span<const double> numbers);

/// Histories with the same label; groups are ordered by their first history.
struct HistoryGroup {
  std::string label;
  std::vector<const TrainingHistory*> histories;
};
[[nodiscard]] std::vector<HistoryGroup> history_groups(std::span<const TrainingHistory> histories);

/// Row of `table` ("probes/mean_rank") at `step`, interpolated linearly between logged steps; empty
/// if the table is missing or the step is out of its range.
[[nodiscard]] std::vector<double> row_at(const TrainingLog& log, const std::string& table,
                                         double step);

/// The first step at which the test accuracy reaches `accuracy`, interpolated linearly between
/// tests; NaN if it never does.
[[nodiscard]] double step_of_accuracy(const TrainingLog& log, double accuracy);

/// State of the runs of a label, each at its own step.
struct VariantMoment {
  std::string label;
  SeedMean step, accuracy;
  std::vector<SeedMean> rank_of_mean, mean_rank;  ///< per layer; A without I
  /// Per layer, A without I: mean ranks at equal entropy (ProbeNumbers::rank_at_entropy), and
  /// entropies in nats as they are. Empty if the logs lack them.
  std::vector<SeedMean> rank_at_entropy, entropy;
};

struct StudySummary {
  std::int64_t equal_step = 0;  ///< the last step that all runs have probed
  /// The highest accuracy that all runs reach; NaN if a run was not tested.
  double equal_accuracy = 0;
  std::vector<VariantMoment> untrained;  ///< at step 0; without runs if it was not probed
  std::vector<VariantMoment> at_equal_steps, at_equal_accuracy;
};

/// Compares the histories. Throws Error(usage) for histories without probes.
[[nodiscard]] StudySummary summarise(std::span<const TrainingHistory> histories);

}  // namespace attnscope
