// Subjects that differ in their input alone: averaged in figures of spectra.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

struct SubjectGroup {
  std::string label;                  ///< the subjects' own, without their inputs
  std::vector<std::size_t> subjects;  ///< indices into the request; not empty
};

/// Subjects of one model and one mechanism in one group, in the order of their first; a group each
/// if not `averaged`.
[[nodiscard]] std::vector<SubjectGroup> subject_groups(const FigureRequest& request, bool averaged);

/// What stands before rows and columns of a grid, where room is short: labels without the part
/// they all begin with. "fashion-softmax", "fashion-adder" → "softmax", "adder".
[[nodiscard]] std::vector<std::string> short_labels(const FigureRequest& request);

}  // namespace attnscope
