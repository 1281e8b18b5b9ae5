// What trainings were at each of their steps: from runs' logs, or from models that others kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/input/input.h"
#include "core/progress.h"
#include "core/training/run/training_log.h"

namespace attnscope {

/// One training over its steps.
struct TrainingHistory {
  std::string label;  ///< trainings that differ in their seeds alone share it
  std::filesystem::path folder;
  TrainingLog log;  ///< tables as a run's: "tests/…", "probes/…", "steps/…"
};

/// What is in `folder`: a run, a folder of runs (a study's; those called NAME-seed1, NAME-seed2 …
/// share the label NAME), or a series of checkpoints (checkpoint_series.h), each of which is run on
/// `inputs`: then the log has "probes/…" alone. Throws Error(usage) if there is none of these, or a
/// series without inputs; Error for a model that cannot be read or run.
[[nodiscard]] std::vector<TrainingHistory> read_histories(const std::filesystem::path& folder,
                                                          const std::vector<Input>& inputs,
                                                          const Progress& progress = {});

/// A log as TrainingLog::as_hdf5 writes it. Throws Error(io, damaged).
[[nodiscard]] TrainingLog read_training_log(const std::filesystem::path& file);

}  // namespace attnscope
