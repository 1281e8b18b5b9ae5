// A training on disk: a folder with its recipe, its models at some steps, its state and its log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/input/input.h"
#include "core/progress.h"
#include "core/training/run/training_run.h"

namespace attnscope {

/// Name of a step, "step-000128", with zeros, so that file names sort by step. step_in_name
/// (checkpoint_series.h) parses it.
[[nodiscard]] std::string step_name(std::int64_t step);

/// Paths of the files in a run's folder.
struct RunFolder {
  std::filesystem::path folder;

  [[nodiscard]] std::filesystem::path recipe() const { return folder / "recipe.json"; }
  [[nodiscard]] std::filesystem::path state() const { return folder / "state.npz"; }
  [[nodiscard]] std::filesystem::path log() const { return folder / "log.h5"; }
  /// Path of the model of a step: "step-000128.h5".
  [[nodiscard]] std::filesystem::path model(std::int64_t step) const;
  /// Name of the model of a step: "run, step 128".
  [[nodiscard]] std::string model_name(std::int64_t step) const;
};

/// Makes the folder of a new run or study (`what`), in which `first_file` will be written first.
/// Throws Error(usage) if the folder exists and holds anything except remains of an interrupted
/// write of that file and entries for which `is_nothing` is true.
void make_new_folder(const std::filesystem::path& first_file, const std::string& what,
                     bool (*is_nothing)(const std::filesystem::path& entry) = nullptr);

/// Makes the folder and writes the recipe. Throws like make_new_folder.
void begin_run_folder(const RunFolder& folder, const Recipe& recipe);

/// True if the folder holds a recipe.
[[nodiscard]] bool is_run(const std::filesystem::path& folder);
/// The runs in a folder: the folder itself if it is a run, else its subfolders that are, by name.
[[nodiscard]] std::vector<std::filesystem::path> run_folders_in(
    const std::filesystem::path& folder);

/// The recipe of a folder. Throws Error(usage) if the folder is not a run's.
[[nodiscard]] Recipe recipe_of(const RunFolder& folder);

/// Trains the run of a folder step by step, as `train` does to the end. Not thread-safe.
class FolderTraining {
 public:
  /// Opens the data and resumes from the state in the folder, or starts afresh. Throws Error.
  explicit FolderTraining(RunFolder folder);

  [[nodiscard]] const RunFolder& folder() const { return folder_; }
  [[nodiscard]] TrainingRun& run() { return *run_; }
  [[nodiscard]] const TrainingRun& run() const { return *run_; }

  /// Must be called after every step and before the first. Learns hash codes if they are due;
  /// writes, tests and probes the model of the current step if the recipe asks for it and it is not
  /// done, and saves the state if that is due. Throws Error; Cancelled with the state saved.
  void keep(const Progress& progress = {});
  /// True if keep() will test the model of the current step, which may take as long as many steps.
  [[nodiscard]] bool needs_check_point() const;
  /// Writes, tests and probes the model of the current step, whatever the recipe says.
  void check_point(const Progress& progress = {});
  /// Saves the current state and log.
  void save() const;
  /// Inputs of the probes: the first test examples, as many as the recipe says.
  [[nodiscard]] std::vector<Input> probe_inputs() const;

  /// Releases the run; `this` must not be used afterwards.
  [[nodiscard]] std::unique_ptr<TrainingRun> take_run() { return std::move(run_); }

 private:
  [[nodiscard]] bool needs_codes() const;
  [[nodiscard]] bool needs_probes() const;
  /// True if the last row of that table belongs to the current step.
  [[nodiscard]] bool is_last(const char* table) const;
  void test(const Progress& progress);
  void follow_probes(const Progress& progress);

  RunFolder folder_;
  std::unique_ptr<TrainingRun> run_;
  std::vector<std::int64_t> checkpoints_, code_steps_;
};

/// Callback after every step.
using StepDone = std::function<void(const TrainingRun& run)>;

/// Resumes from the state in the folder, or starts afresh, and trains to the last step. At the
/// recipe's checkpoints it writes, tests and probes the model. Files are replaced atomically, so
/// that a killed run loses at most the steps after its last saved state. Two folders of one recipe
/// hold the same bytes, however often they were interrupted. Returns the run at its end. Throws
/// Error; Cancelled, once the state is saved.
std::unique_ptr<TrainingRun> train(const RunFolder& folder, const Progress& progress,
                                   const StepDone& step_done = {});

}  // namespace attnscope
