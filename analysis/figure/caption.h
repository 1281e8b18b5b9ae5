// Words for the subjects of a figure, shared by legends, grids and captions: short labels that keep
// what distinguishes the subjects, groups of subjects to average, and the building blocks of
// captions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

/// The subjects for a caption, "fashion-adder (identity=false) on sneaker.png", separated by
/// semicolons, with properties that their labels do not name. An input shared by all is named once
/// at the end. Names a mechanism that overlays weights trained with another one.
[[nodiscard]] std::string subjects_in_words(const FigureRequest& request);

/// The caption with a sentence such as "vit unconfirmed: scale, qkv_rows assumed. " inserted before
/// its ending for each model that is unconfirmed or contradicted by its reference; unchanged if
/// there is none.
[[nodiscard]] std::string caption_with_status(std::string caption, const FigureRequest& request);

/// The words for a setting of indices: "all layers", "layer 3", "layers 0,2-3".
[[nodiscard]] std::string chosen(const std::string& what, const std::string& indices);

/// The ending of captions: "Made with attnscope 0.1.0."
[[nodiscard]] std::string made_with();

/// The labels without the words that all begin with and all end with; words are separated by "-",
/// "_", " " and ".". A shared beginning or end is kept if removing it would leave a label empty or
/// two labels equal.
///   {"fashion-softmax", "fashion-adder"} → {"softmax", "adder"}
[[nodiscard]] std::vector<std::string> short_labels(const std::vector<std::string>& labels);

/// Short labels of subjects: models and inputs are shortened separately, and inputs are named only
/// if they differ.
///   {"fashion-softmax on 09_boot.png", "fashion-adder on 09_boot.png"} → {"softmax", "adder"}
[[nodiscard]] std::vector<std::string> short_labels(const FigureRequest& request);

/// Subjects that differ only in their inputs, for averaging.
struct SubjectGroup {
  std::string label;                  ///< label of the subjects, without their inputs
  std::string short_label;            ///< short label that distinguishes it from other groups
  std::vector<std::size_t> subjects;  ///< indices into the request; not empty
};

/// Groups of subjects with the same model and mechanism, in the order of their first subjects; one
/// group per subject if not `averaged`.
[[nodiscard]] std::vector<SubjectGroup> subject_groups(const FigureRequest& request, bool averaged);

}  // namespace attnscope
