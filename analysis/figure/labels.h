// Short labels of subjects that keep what distinguishes them, shared by legends, grids and
// captions.
#pragma once

#include <string>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

/// The labels without the words that all begin with and all end with; words are separated by "-",
/// "_", " " and ".". A shared beginning or end is kept if removing it would leave a label empty or
/// two labels equal.
///   {"fashion-softmax", "fashion-adder"} → {"softmax", "adder"}
[[nodiscard]] std::vector<std::string> short_labels(const std::vector<std::string>& labels);

/// Short labels of subjects: models and inputs are shortened separately, and inputs are named only
/// if they differ.
///   {"fashion-softmax on 09_boot.png", "fashion-adder on 09_boot.png"} → {"softmax", "adder"}
[[nodiscard]] std::vector<std::string> short_labels(const FigureRequest& request);

/// The subject's label without a final " on INPUT".
[[nodiscard]] std::string label_without_input(const Subject& subject);

}  // namespace attnscope
