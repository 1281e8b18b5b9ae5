// Determines which figures the open subjects can be drawn as, and what others lack.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

/// FigureFit::missing of a figure that this version does not have.
inline constexpr std::string_view not_in_this_version = "not in this version";

/// Indices of the subjects that a figure can show, and a text for what is missing if it cannot be
/// made: "needs a model with DAFT attention".
struct FigureFit {
  std::vector<std::size_t> subjects;
  std::size_t most = 0;  ///< maximum number of subjects shown at once; 0: no limit
  std::string missing;   ///< requirement that the subjects do not meet; empty if there are enough
  std::string unset;     ///< missing setting: "needs a labelled data set"; empty if it is set
};

/// Determined from the needs of the recipe and the settings, without making the figure. `settings`
/// may be partial; the others have their defaults. For an unknown figure, `missing` is
/// not_in_this_version.
[[nodiscard]] FigureFit fit_of(std::string_view figure, const std::vector<Subject>& subjects,
                               const ParameterValues& settings = {});

/// The request with only the subjects at these indices.
[[nodiscard]] FigureRequest with_subjects(const FigureRequest& request,
                                          const std::vector<std::size_t>& indices);

}  // namespace attnscope
