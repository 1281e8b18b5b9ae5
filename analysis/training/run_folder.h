// A training on disk: a folder with its recipe, its models at some steps, its state and its log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/progress.h"
#include "core/training/run/training_run.h"

namespace attnscope {

/// What lies in a run's folder.
struct RunFolder {
  std::filesystem::path folder;

  [[nodiscard]] std::filesystem::path recipe() const { return folder / "recipe.json"; }
  [[nodiscard]] std::filesystem::path state() const { return folder / "state.npz"; }
  [[nodiscard]] std::filesystem::path log() const { return folder / "log.h5"; }
  /// "step-000128.h5": they sort as the steps do.
  [[nodiscard]] std::filesystem::path model(std::int64_t step) const;
};

/// Makes the folder with the recipe in it. Throws Error(usage) if it is there and holds anything.
void begin_run_folder(const RunFolder& folder, const Recipe& recipe);

/// The recipe of a folder. Throws Error(usage) if it is no run's.
[[nodiscard]] Recipe recipe_of(const RunFolder& folder);

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
