// What the figures of sweeps share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/sweep/sweep.h"

namespace attnscope {

[[nodiscard]] ParameterDescription sweep_file_setting();
/// "head": all heads together, or one of them.
[[nodiscard]] ParameterDescription sweep_head_setting();

/// Figures of sweeps show no subjects.
inline constexpr FigureNeeds sweep_needs{.subject = SubjectNeed::none,
                                         .least = 0,
                                         .setting = "file",
                                         .unset = "needs the result of a sweep"};

/// The sweep the setting "file" names. Throws as read_sweep.
[[nodiscard]] SweepResult sweep_shown(const Settings& read);

/// What tells the series apart: short_labels.
[[nodiscard]] std::vector<std::string> series_labels(const SweepResult& result);

/// "10000 inputs of train-images-idx3-ubyte", and how many are done where it is not finished.
[[nodiscard]] std::string sweep_in_words(const SweepResult& result);

/// The one head the setting "head" names; -1 for all. Throws Error(usage).
[[nodiscard]] std::int64_t head_shown(const Settings& read, const SweepResult& result);

}  // namespace attnscope
