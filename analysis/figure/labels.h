// What subjects are called where room is short: without what they share, with what tells them
// apart. One place for every figure, so that a legend, a grid and a caption agree.
#pragma once

#include <string>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

/// The labels without the words that all begin and all end with, words being parted by "-", "_",
/// " " and "."; each of several as long as it must be to differ from the others. As they are where
/// nothing would be left of one, or two would become alike.
///   {"fashion-softmax", "fashion-adder"} → {"softmax", "adder"}
[[nodiscard]] std::vector<std::string> short_labels(const std::vector<std::string>& labels);

/// The same of subjects, whose models and inputs are shortened each for themselves; an input is
/// said only where there are several.
///   {"fashion-softmax on 09_boot.png", "fashion-adder on 09_boot.png"} → {"softmax", "adder"}
[[nodiscard]] std::vector<std::string> short_labels(const FigureRequest& request);

/// The subject's label without " on INPUT" at its end.
[[nodiscard]] std::string label_without_input(const Subject& subject);

}  // namespace attnscope
