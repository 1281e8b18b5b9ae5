// Which figures the open subjects can be drawn as, and what is missing for the others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

/// What is missing for a figure that this version does not know.
inline constexpr std::string_view not_in_this_version = "not in this version";

/// Indices of the subjects that the figure can show, and in words what is missing if it can show
/// none: "needs a model with DAFT attention". A figure that needs no subject shows all there are.
struct FigureFit {
  std::vector<std::size_t> subjects;
  std::size_t most = 0;  ///< how many of them it shows at once; any number if 0
  std::string missing;   ///< of subjects; empty if there are those it needs
  std::string unset;     ///< of settings: "needs a labelled data set"; empty if that is set
};

/// By what the recipe needs and the settings say, without making the figure. `settings` are those
/// that are set; the rest is default. A figure that is not in this version is said to be missing.
[[nodiscard]] FigureFit fit_of(std::string_view figure, const std::vector<Subject>& subjects,
                               const ParameterValues& settings = {});

/// The request with only the subjects of these indices.
[[nodiscard]] FigureRequest with_subjects(const FigureRequest& request,
                                          const std::vector<std::size_t>& indices);

}  // namespace attnscope
