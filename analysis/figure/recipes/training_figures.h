// What the figures of trainings share.
#pragma once

#include <string>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/training/study_summary.h"
#include "analysis/training/training_history.h"

namespace attnscope {

/// "folder", and "dataset", "count", "input" of checkpoints that have no log.
[[nodiscard]] std::vector<ParameterDescription> training_folder_settings();

/// Figures of trainings show no subjects.
inline constexpr FigureNeeds training_needs{.subject = SubjectNeed::none,
                                            .least = 0,
                                            .setting = "folder",
                                            .unset = "needs the folder of a training"};

/// The trainings in the folder that is set. Throws as read_histories.
[[nodiscard]] std::vector<TrainingHistory> histories_shown(const Settings& read,
                                                           const Progress& progress);

/// "3 runs each of NAME": what the histories are, for a caption.
[[nodiscard]] std::string histories_in_words(const Settings& read,
                                             const std::vector<TrainingHistory>& histories);

}  // namespace attnscope
