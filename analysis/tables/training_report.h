// The tables of trainings: one run over its steps, and the variants of a study next to each other.
#pragma once

#include <string>

#include "analysis/report/report.h"
#include "analysis/training/run_folder.h"
#include "analysis/training/study_summary.h"

namespace attnscope {

/// One row per step at which a model was tested or probed: losses, accuracy, and ranks, means over
/// the layers; in JSON also each layer's ranks and entropy. The report keeps a copy of the log.
[[nodiscard]] Report training_steps_report(const TrainingLog& log);

/// A line above it: "run: 300 steps, loss 0.4512; 500 test images: 86.20 % right, loss 0.4130".
[[nodiscard]] std::string training_in_words(const TrainingRun& run, const RunFolder& folder);

/// Names of the moments at which a study compares its variants.
inline constexpr const char* kUntrained = "untrained";
inline constexpr const char* kEqualSteps = "equal steps";
inline constexpr const char* kEqualAccuracy = "equal accuracy";

/// One row per variant and layer, at one moment or, with the column "moment", at all of them:
/// steps, accuracy, ranks and entropy, each with the deviation over seeds.
[[nodiscard]] Report training_moments_report(const StudySummary& summary,
                                             const std::string& moment = {});

}  // namespace attnscope
