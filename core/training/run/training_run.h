// A training run, which can be interrupted and resumed at any step.
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
#include "core/training/weight_average.h"

namespace attnscope {

/// Log table of changes of the learning-rate factor.
inline constexpr const char* kRateFactors = "changes/rate_factor";

/// Throws Error(usage) unless the factor of the learning rate is from 0 to 1000.
void check_rate_factor(double factor);

/// The initial values of network.parameters(): random ones from the recipe's seed or, if the recipe
/// has `from`, that file's tensors, by name and shape (ignoring axes of size 1). Models may differ
/// in three ways. First, a mechanism's own tensors, such as DAFT's pe0, keep their initial values
/// if the file lacks them, and are ignored if the network has none. Second, from a file with
/// separate queries and keys, to_qk becomes the mean of the two projections and to_v that of the
/// values (EcoFormer, 5.1). Third, the parts named by the recipe's from_without keep their initial
/// values and are ignored in the file. Throws Error(usage) naming the file, the tensor and both
/// shapes for any other difference, for a file whose model has another number of heads or another
/// vocabulary, and if the file lacks learned codes that the recipe takes from it. Throws the errors
/// of open_checkpoint.
[[nodiscard]] std::vector<float> initial_values(const Recipe& recipe,
                                                const TrainedNetwork& network);

/// The state depends only on the recipe, the data, the number of completed steps and the changes of
/// the rate: it is bitwise equal for any number of threads and interruptions. Not thread-safe;
/// LiveTraining (analysis/training) is.
class TrainingRun {
 public:
  /// Starts at step 0 or, given a file of save_state, resumes there without reading the recipe's
  /// `from`. Throws Error if the data do not fit the recipe, the errors of open_checkpoint and
  /// Error(usage) for a `from` that does not fit the recipe's network, and Error(damaged) if the
  /// file is not a state of this recipe.
  TrainingRun(const Recipe& recipe, std::shared_ptr<const TrainingData> data,
              const std::filesystem::path& state = {});

  [[nodiscard]] const Recipe& recipe() const { return recipe_; }
  [[nodiscard]] const TrainingData& data() const { return *data_; }
  [[nodiscard]] const TrainedNetwork& network() const { return *network_; }
  [[nodiscard]] const std::vector<float>& values() const { return values_; }
  /// The weights that are tested and written: their average if the recipe has one, from step 1 on.
  /// The average begins again with fine patches.
  [[nodiscard]] const std::vector<float>& model_values() const {
    return average_.values().empty() ? values_ : average_.values();
  }
  /// A copy of model_values(), which does not change while the run continues.
  [[nodiscard]] std::shared_ptr<const TrainingSnapshot> snapshot() const;
  /// Number of completed steps. After the last step on coarse patches the network is still the
  /// coarse one; the next step begins with the change.
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] bool done() const { return step_ >= recipe_.steps(); }
  [[nodiscard]] TrainingLog& log() { return log_; }
  [[nodiscard]] const TrainingLog& log() const { return log_; }

  /// The learning rate of the next step: the schedule's, times the factor.
  [[nodiscard]] double rate() const;
  /// The factor of the schedule's rates, 0 to 1000; 1 until it is changed.
  [[nodiscard]] double rate_factor() const;
  /// Takes effect from the next step on. Recorded in the log, "changes/step" and
  /// "changes/rate_factor", and thereby in the state. Throws like check_rate_factor.
  void set_rate_factor(double factor);

  /// Replaces the values of a parameter by as many numbers, such as separately learned codes.
  void replace(std::string_view parameter, std::span<const float> numbers);

  /// Performs one step and logs its loss, accuracy, learning rate and gradient length in the tables
  /// "steps/…". Throws Error(usage) if the loss or the gradient is not finite.
  void advance();

  /// The loss of all test examples; empty without any.
  [[nodiscard]] LossSum test(const Progress& progress = {});

  /// Writes the current model in the program's own layout.
  void write_model(const std::filesystem::path& file, const std::string& name) const;

  /// Writes the state required to resume: values, their average, optimiser and log, as NPZ.
  void save_state(const std::filesystem::path& file) const;

 private:
  void restore_state(const std::filesystem::path& file);
  /// Throws Error(damaged) for a state that no run of this recipe can have saved.
  void take_state(const Checkpoint& state);
  /// Continues with this network and a new optimiser.
  void begin_with(std::shared_ptr<const TrainedNetwork> network);

  Recipe recipe_;
  std::shared_ptr<const TrainingData> data_;
  std::shared_ptr<const TrainedNetwork> fine_;     ///< the final network
  std::shared_ptr<const TrainedNetwork> network_;  ///< the coarse network at first, then fine_
  std::vector<float> values_, gradients_;
  WeightAverage average_;
  std::unique_ptr<Optimiser> optimiser_;
  std::unique_ptr<BatchGradient> pass_;
  TrainingLog log_;
  std::int64_t step_ = 0;
};

}  // namespace attnscope
