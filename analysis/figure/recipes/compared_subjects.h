// Settings and computations shared by the figures that compare subjects.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "analysis/figure/settings.h"

namespace attnscope {

[[nodiscard]] ParameterDescription reference_setting();
[[nodiscard]] ParameterDescription align_setting();
[[nodiscard]] ParameterDescription match_heads_setting();

/// Settings of the figures of curves: spectra and ranks of the matrices that "of" selects.
[[nodiscard]] std::vector<ParameterDescription> comparison_settings();

/// Needs of every comparison: a reference and at least one other subject.
inline constexpr FigureNeeds comparison_needs{.least = 2};
/// Needs of the figures of curves.
inline constexpr FigureNeeds compared_curves_needs{.least = 2, .vectors = true};

/// One subject compared with the reference.
struct ComparedSubject {
  std::size_t subject = 0;   ///< index into the request
  std::string label, shown;  ///< label in numbers and captions; label in legends and on axes
  SubjectComparison comparison;
};

struct ComparedSubjects {
  std::size_t reference = 0;
  std::int64_t first_layer = 0;  ///< number of the first layer; see FigureRequest::first_layer
  std::string reference_shown;   ///< short label of the reference
  ComparisonOptions options;
  std::vector<ComparedSubject> others;
};

/// Compares all subjects with the reference according to the settings reference, align,
/// match-heads, identity (as-is, without or with) and threshold, and, for figures that have them,
/// of, centred and added. Throws Error(usage) for settings out of range and for fewer than two
/// subjects.
[[nodiscard]] ComparedSubjects compared_subjects(const FigureRequest& request,
                                                 const Progress& progress);

/// Description for a caption: "fashion-adder (adder) on x.png against fashion-softmax (softmax) on
/// x.png; layers by index, …".
[[nodiscard]] std::string comparison_in_words(const FigureRequest& request,
                                              const ComparedSubjects& compared);

/// Layout of two panels: side by side if the width allows it, else one below the other. Row and
/// column are those of the second panel.
struct PanelSplit {
  std::int64_t row = 0, column = 1;
  double height_mm = 60;  ///< height of the figure, without legends
};
[[nodiscard]] PanelSplit split_for(double width_mm);

/// The second panel, "b", over the compared layers, without marks.
[[nodiscard]] Panel by_layer_panel(const ComparedSubjects& compared, const PanelSplit& split);

/// Adds every head as a point, and the means of the layers that have one as a line in `style`.
/// Returns the means.
std::vector<double> add_by_layer(Panel& panel, const ComparedSubject& other,
                                 std::int64_t first_layer, ComparisonQuantity quantity,
                                 LineStyle style);

}  // namespace attnscope
