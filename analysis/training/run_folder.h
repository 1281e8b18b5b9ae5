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

/// "step-000128": names of files sort as the steps do. step_in_name (checkpoint_series.h) reads it.
[[nodiscard]] std::string step_name(std::int64_t step);

/// What lies in a run's folder.
struct RunFolder {
  std::filesystem::path folder;

  [[nodiscard]] std::filesystem::path recipe() const { return folder / "recipe.json"; }
  [[nodiscard]] std::filesystem::path state() const { return folder / "state.npz"; }
  [[nodiscard]] std::filesystem::path log() const { return folder / "log.h5"; }
  /// "step-000128.h5"
  [[nodiscard]] std::filesystem::path model(std::int64_t step) const;
  /// What that model calls itself: "run, step 128".
  [[nodiscard]] std::string model_name(std::int64_t step) const;
};

/// Makes the folder of a new `what`, a run or a study, for the file that is first written into it.
/// Throws Error(usage) if it is there and holds anything but what a kill left of that file, and
/// entries that count as nothing.
void make_new_folder(const std::filesystem::path& first_file, const std::string& what,
                     bool (*is_nothing)(const std::filesystem::path& entry) = nullptr);

/// Makes the folder with the recipe in it. Throws as make_new_folder.
void begin_run_folder(const RunFolder& folder, const Recipe& recipe);

/// Whether there is a recipe in the folder.
[[nodiscard]] bool is_run(const std::filesystem::path& folder);
/// The runs in a folder: it alone where it is one, else the folders in it that are, by name.
[[nodiscard]] std::vector<std::filesystem::path> run_folders_in(
    const std::filesystem::path& folder);

/// The recipe of a folder. Throws Error(usage) if it is no run's.
[[nodiscard]] Recipe recipe_of(const RunFolder& folder);

/// The run of a folder, step by step: what `train` repeats to the end. For one thread at a time.
class FolderTraining {
 public:
  /// Opens the data and goes on from the state in the folder, or from nothing. Throws Error.
  explicit FolderTraining(RunFolder folder);

  [[nodiscard]] const RunFolder& folder() const { return folder_; }
  [[nodiscard]] TrainingRun& run() { return *run_; }
  [[nodiscard]] const TrainingRun& run() const { return *run_; }

  /// After a step, and before the first: learns hash codes where the recipe has some due; writes,
  /// tests and probes the model of the present step where the recipe asks for it and it is not
  /// done, and saves the state where that is due. Throws Error; Cancelled with the state saved.
  void keep(const Progress& progress = {});
  /// Whether keep() tests the model of the present step, which may take as long as many steps.
  [[nodiscard]] bool needs_check_point() const;
  /// The model of the present step, tested and probed, whatever the recipe says of it.
  void check_point(const Progress& progress = {});
  /// State and log, as they are now.
  void save() const;
  /// What the probes are: the first test examples, as many as the recipe says.
  [[nodiscard]] std::vector<Input> probe_inputs() const;

  /// The run itself, which `this` is of no use without.
  [[nodiscard]] std::unique_ptr<TrainingRun> take_run() { return std::move(run_); }

 private:
  [[nodiscard]] bool needs_codes() const;
  [[nodiscard]] bool needs_probes() const;
  /// Whether the last row of that table is of the present step.
  [[nodiscard]] bool is_last(const char* table) const;
  void test(const Progress& progress);
  void follow_probes(const Progress& progress);

  RunFolder folder_;
  std::unique_ptr<TrainingRun> run_;
  std::vector<std::int64_t> checkpoints_, code_steps_;
};

/// Called after every step.
using StepDone = std::function<void(const TrainingRun& run)>;

/// Goes on from the state in the folder, or from nothing, to the last step. At the recipe's
/// checkpoints it writes the model, tests it and follows the probes; files are put in place whole,
/// so that a run which is killed loses at most what came after its last state. Two folders of one
/// recipe hold the same bytes, however often they were interrupted. Returns the run at its end.
/// Throws Error; Cancelled, once the state is saved.
std::unique_ptr<TrainingRun> train(const RunFolder& folder, const Progress& progress,
                                   const StepDone& step_done = {});

}  // namespace attnscope
