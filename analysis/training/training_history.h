// Quantities of trainings at each step, from the logs of runs or from series of checkpoints.
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
  std::string label;  ///< shared by trainings that differ only in their seeds
  std::filesystem::path folder;
  TrainingLog log;  ///< tables named like those of a run: "tests/…", "probes/…", "steps/…"
};

/// The trainings in `folder`: a run, a folder of runs (a study's; those named NAME-seed1,
/// NAME-seed2 … share the label NAME), or a series of checkpoints (checkpoint_series.h), each of
/// which runs on `inputs`; its log then has only "probes/…". Throws Error(usage) if there is none
/// of these, or for a series without inputs; Error for a model that cannot be read or run.
[[nodiscard]] std::vector<TrainingHistory> read_histories(const std::filesystem::path& folder,
                                                          const std::vector<Input>& inputs,
                                                          const Progress& progress = {});

/// Reads a log written by TrainingLog::as_hdf5. Throws Error(io, damaged).
[[nodiscard]] TrainingLog read_training_log(const std::filesystem::path& file);

}  // namespace attnscope
