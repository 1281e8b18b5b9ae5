// What figures of comparisons have in common: their settings, and the comparisons themselves.
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

/// Those of the figures of curves: of spectra and ranks, of whatever "of" says.
[[nodiscard]] std::vector<ParameterDescription> comparison_settings();

/// What every comparison needs: a reference and another.
inline constexpr FigureNeeds comparison_needs{.least = 2};
/// What the figures of curves need.
inline constexpr FigureNeeds compared_curves_needs{.least = 2, .vectors = true};

/// One subject beside the reference.
struct ComparedSubject {
  std::size_t subject = 0;   ///< index into the request
  std::string label, shown;  ///< in numbers and captions; in legends and on axes
  SubjectComparison comparison;
};

struct ComparedSubjects {
  std::size_t reference = 0;
  std::int64_t first_layer = 0;  ///< as FigureRequest::first_layer
  std::string reference_shown;   ///< its short label
  ComparisonOptions options;
  std::vector<ComparedSubject> others;
};

/// Compares all subjects with the reference as the settings reference, align, match-heads,
/// identity (as-is, without or with) and threshold say, and where the figure has them of, centred
/// and added. Throws Error(usage) for settings out of
/// range and for fewer than two subjects.
[[nodiscard]] ComparedSubjects compared_subjects(const FigureRequest& request,
                                                 const Progress& progress);

/// "fashion-adder (adder) on x.png against fashion-softmax (softmax) on x.png; layers by index, …".
[[nodiscard]] std::string comparison_in_words(const FigureRequest& request,
                                              const ComparedSubjects& compared);

/// Two panels beside each other where there is room for both, else below each other: the second's
/// row and column.
struct PanelSplit {
  std::int64_t row = 0, column = 1;
  double height_mm = 60;  ///< of the figure, without legends
};
[[nodiscard]] PanelSplit split_for(double width_mm);

/// The second panel, "b", over the compared layers; nothing in it yet.
[[nodiscard]] Panel by_layer_panel(const ComparedSubjects& compared, const PanelSplit& split);

/// Every head a point, their means a line in `style`: the means of layers that have one.
std::vector<double> add_by_layer(Panel& panel, const ComparedSubject& other,
                                 std::int64_t first_layer, ComparisonQuantity quantity,
                                 LineStyle style);

}  // namespace attnscope
