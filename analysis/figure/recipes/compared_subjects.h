// What figures of comparisons have in common: their settings, and the comparisons themselves.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "analysis/figure/settings.h"

namespace attnscope {

inline constexpr FigureSetting reference_setting = {
    "reference", "1", "which subject the others are compared with: its number, from 1"};
inline constexpr FigureSetting align_setting = {
    "align", "index", "layers of different depth by index or by relative depth: index or depth"};
inline constexpr FigureSetting match_heads_setting = {
    "match-heads", "no", "yes or no: each head beside the reference's most similar one"};

/// Those of the figures of curves.
inline constexpr std::array<FigureSetting, 6> comparison_settings = {{
    reference_setting,
    align_setting,
    match_heads_setting,
    {"identity", "as-is", "as-is, without, or with (I added to every map)"},
    {"threshold", "0.9", "share of the singular values that the equivalent rank reaches, 0 to 1"},
    {"legend", "below", "below or none"},
}};

/// One subject beside the reference.
struct ComparedSubject {
  std::size_t subject = 0;  ///< index into the request
  std::string label;
  SubjectComparison comparison;
};

struct ComparedSubjects {
  std::size_t reference = 0;
  ComparisonOptions options;
  std::vector<ComparedSubject> others;
};

/// Compares all subjects with the reference as the settings reference, align, match-heads,
/// identity (as-is, without or with) and threshold say. Throws Error(usage) for settings out of
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
                                 ComparisonQuantity quantity, LineStyle style);

}  // namespace attnscope
