// Trainings compared: at equal steps and at equal accuracy, mean and deviation over seeds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/training/training_history.h"

namespace attnscope {

/// Over runs. Of one run there is no deviation: NaN. Of none, all NaN.
struct SeedMean {
  double mean = 0, deviation = 0;  ///< deviation: of the sample, n − 1
  std::int64_t runs = 0;
};
/// Those that are NaN are left out.
[[nodiscard]] SeedMean seed_mean(std::span<const double> numbers);

/// Histories of one label, in the order of the first of each.
struct HistoryGroup {
  std::string label;
  std::vector<const TrainingHistory*> histories;
};
[[nodiscard]] std::vector<HistoryGroup> history_groups(std::span<const TrainingHistory> histories);

/// Row of `table` ("probes/mean_rank") at `step`, between logged steps as on a straight line; empty
/// if there is no such table, or the step lies outside of it.
[[nodiscard]] std::vector<double> row_at(const TrainingLog& log, const std::string& table,
                                         double step);

/// The first step at which the test accuracy is `accuracy`, between tests as on a straight line;
/// NaN if it never is.
[[nodiscard]] double step_of_accuracy(const TrainingLog& log, double accuracy);

/// What the runs of a label were at some moment of each.
struct VariantMoment {
  std::string label;
  SeedMean step, accuracy;
  std::vector<SeedMean> rank_of_mean, mean_rank;  ///< of each layer; A without I
};

struct StudySummary {
  std::int64_t equal_step = 0;  ///< the last step that all runs have been tested at
  double equal_accuracy = 0;    ///< the most that all runs reach; NaN where nothing was tested
  std::vector<VariantMoment> at_equal_steps, at_equal_accuracy;
};

/// Throws Error(usage) for histories without probes.
[[nodiscard]] StudySummary summarise(std::span<const TrainingHistory> histories);

}  // namespace attnscope
