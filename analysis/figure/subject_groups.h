// Subjects that differ in their input alone: averaged in figures of spectra.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

struct SubjectGroup {
  std::string label;                  ///< the subjects' own, without their inputs
  std::string short_label;            ///< what tells it from the other groups: short_labels
  std::vector<std::size_t> subjects;  ///< indices into the request; not empty
};

/// Subjects of one model and one mechanism in one group, in the order of their first; a group each
/// if not `averaged`.
[[nodiscard]] std::vector<SubjectGroup> subject_groups(const FigureRequest& request, bool averaged);

}  // namespace attnscope
