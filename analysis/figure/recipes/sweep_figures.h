// Settings and texts shared by the figures of sweeps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/sweep/sweep.h"

namespace attnscope {

[[nodiscard]] ParameterDescription sweep_file_setting();
/// Setting "head": all heads together, or one of them.
[[nodiscard]] ParameterDescription sweep_head_setting();

/// Figures of sweeps show no subjects.
inline constexpr FigureNeeds sweep_needs{.subject = SubjectNeed::none,
                                         .least = 0,
                                         .setting = "file",
                                         .unset = "needs the result of a sweep"};

/// The sweep in the file of the setting "file". Throws like read_sweep.
[[nodiscard]] SweepResult sweep_shown(const Settings& read);

/// How a series is shown: the curves of one model with and without I share its colour and marker.
struct SweptSeriesLook {
  std::string label;      ///< short label that distinguishes it: "softmax", "softmax + I"
  std::size_t model = 0;  ///< index of its model, for subject_colour and subject_marker
};
[[nodiscard]] std::vector<SweptSeriesLook> looks_of_series(const SweepResult& result);

/// Number and source of the inputs for a caption: "10000 inputs of train-images-idx3-ubyte"; names
/// the number done if the sweep is unfinished.
[[nodiscard]] std::string sweep_in_words(const SweepResult& result);

/// A sentence such as "vit.pt unconfirmed: scale, heads assumed. " for each model that is
/// unconfirmed or contradicted by its reference; empty if there is none.
[[nodiscard]] std::string status_of_swept_models(const SweepResult& result);

/// The head selected by the setting "head"; -1 for all. Throws Error(usage).
[[nodiscard]] std::int64_t head_shown(const Settings& read, const SweepResult& result);

}  // namespace attnscope
