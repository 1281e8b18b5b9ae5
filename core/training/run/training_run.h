// A training from its first step to its last, which may be left and gone on with at any step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/progress.h"
#include "core/training/batch_gradient.h"
#include "core/training/data/training_data.h"
#include "core/training/network.h"
#include "core/training/optimiser.h"
#include "core/training/recipe/recipe.h"
#include "core/training/run/training_log.h"
#include "core/training/run/training_snapshot.h"

namespace attnscope {

/// Table of the log: what rates are multiplied by, as it was changed.
inline constexpr const char* kRateFactors = "changes/rate_factor";

/// Throws Error(usage) for a factor of the learning rate that is not from 0 to 1000.
void check_rate_factor(double factor);

/// Where it stands is a function of the recipe, the data, the number of steps done and the changes
/// of its rate: the same to the bit whatever the number of threads, and however often it was
/// interrupted. For one thread at a time; LiveTraining (analysis/training) is for several.
class TrainingRun {
 public:
  /// At step 0 or, with a file of save_state, where that was: then nothing else is read again.
  /// Throws Error for data that the recipe does not fit, as first_values, and Error(damaged) for
  /// the state of another recipe, or none.
  TrainingRun(const Recipe& recipe, std::shared_ptr<const TrainingData> data,
              const std::filesystem::path& state = {});

  [[nodiscard]] const Recipe& recipe() const { return recipe_; }
  [[nodiscard]] const TrainingData& data() const { return *data_; }
  [[nodiscard]] const TrainedNetwork& network() const { return *network_; }
  [[nodiscard]] const std::vector<float>& values() const { return values_; }
  /// A copy of its weights, which stays as it is while the run goes on.
  [[nodiscard]] std::shared_ptr<const TrainingSnapshot> snapshot() const;
  /// Steps done. After the last on coarse patches its network is still that of coarse ones: the
  /// next step begins with the change.
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] bool done() const { return step_ >= recipe_.steps(); }
  [[nodiscard]] TrainingLog& log() { return log_; }
  [[nodiscard]] const TrainingLog& log() const { return log_; }

  /// The learning rate of the next step: the schedule's, times the factor.
  [[nodiscard]] double rate() const;
  /// What the schedule's rates are multiplied by, 0 to 1000; 1 until it is changed.
  [[nodiscard]] double rate_factor() const;
  /// From the next step on. Goes to the log, "changes/step" and "changes/rate_factor", and with it
  /// into the state. Throws as check_rate_factor.
  void set_rate_factor(double factor);

  /// Other numbers in the place of a parameter's, of as many elements: codes that were learnt
  /// apart.
  void replace(std::string_view parameter, std::span<const float> numbers);

  /// One step: its loss, share of right predictions, learning rate and length of the gradient go to
  /// the log's tables "steps/…". Throws Error(usage) when the loss is no number any more.
  void advance();

  /// The loss of all test examples, where there are any.
  [[nodiscard]] LossSum test(const Progress& progress = {});

  /// The model as it is now, in the program's own layout.
  void write_model(const std::filesystem::path& file, const std::string& name) const;

  /// All that it needs to go on: values, optimiser, log; NPZ.
  void save_state(const std::filesystem::path& file) const;

 private:
  void restore_state(const std::filesystem::path& file);
  /// Throws Error(damaged) for anything that no run with this recipe can have saved.
  void take_state(const Checkpoint& state);
  /// Learns with this network from now on, with an optimiser that has seen nothing.
  void begin_with(std::shared_ptr<const TrainedNetwork> network);

  Recipe recipe_;
  std::shared_ptr<const TrainingData> data_;
  std::shared_ptr<const TrainedNetwork> fine_;     ///< which it ends with
  std::shared_ptr<const TrainedNetwork> network_;  ///< of coarse patches at first, or fine_
  std::vector<float> values_, gradients_;
  std::unique_ptr<Optimiser> optimiser_;
  std::unique_ptr<BatchGradient> pass_;
  TrainingLog log_;
  std::int64_t step_ = 0;
};

}  // namespace attnscope
