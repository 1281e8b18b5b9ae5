// Groups subjects that differ only in their inputs, for averaging.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

struct SubjectGroup {
  std::string label;                  ///< label of the subjects, without their inputs
  std::string short_label;            ///< short label that distinguishes it from other groups
  std::vector<std::size_t> subjects;  ///< indices into the request; not empty
};

/// Groups of subjects with the same model and mechanism, in the order of their first subjects; one
/// group per subject if not `averaged`.
[[nodiscard]] std::vector<SubjectGroup> subject_groups(const FigureRequest& request, bool averaged);

}  // namespace attnscope
