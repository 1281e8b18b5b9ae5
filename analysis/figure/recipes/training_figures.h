// Settings and texts shared by the figures of trainings.
#pragma once

#include <string>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/training/study_summary.h"
#include "analysis/training/training_history.h"

namespace attnscope {

/// Settings "folder", "dataset", "count" and "input" for checkpoints without a log, and "only", a
/// part of the labels of the trainings shown.
[[nodiscard]] std::vector<ParameterDescription> training_folder_settings();

/// Figures of trainings show no subjects.
inline constexpr FigureNeeds training_needs{.subject = SubjectNeed::none,
                                            .least = 0,
                                            .setting = "folder",
                                            .unset = "needs the folder of a training"};

/// The trainings in the folder that "only" selects. Throws like read_histories; Error(usage) if it
/// selects none.
[[nodiscard]] std::vector<TrainingHistory> histories_shown(const Settings& read,
                                                           const Progress& progress);

/// Name of the folder for a caption, "NAME, mean of 3 seeds" if runs are averaged.
[[nodiscard]] std::string histories_in_words(const Settings& read,
                                             const std::vector<TrainingHistory>& histories);

}  // namespace attnscope
