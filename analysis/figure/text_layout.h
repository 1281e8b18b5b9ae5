// Estimates the space that texts take, to plan a figure before it is drawn.
#pragma once

#include <string>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Width of the text's longest line in ems, in DejaVu Sans.
[[nodiscard]] double text_ems(const std::string& text);
/// Width of the text's longest line in mm, at `size_pt`.
[[nodiscard]] double text_mm(const std::string& text, double size_pt);

/// Number of lines of a text; 0 if it is empty.
[[nodiscard]] std::size_t lines_of(const std::string& text);

/// The text broken at spaces into lines of at most `ems`, unless a word is longer.
[[nodiscard]] std::string wrapped(const std::string& text, double ems);

/// The label broken into two lines after the space, hyphen or underscore nearest its middle;
/// unchanged if it has none, or has two lines already.
[[nodiscard]] std::string in_two_lines(const std::string& label);

/// The label, broken by in_two_lines if it is longer than `room_mm` at `size_pt`.
[[nodiscard]] std::string fitted(const std::string& label, double room_mm, double size_pt);

/// Number of rows of a legend of these labels at 7 pt in this width: as few as possible, filled
/// column by column like drawn legends.
[[nodiscard]] std::size_t legend_rows(const std::vector<std::string>& labels, double width_mm);

/// The text, with each line that is longer than `ems` truncated and ended by an ellipsis.
[[nodiscard]] std::string elided(const std::string& text, double ems);

/// The text, with each line that is longer than `ems` shortened to its start and its end, with an
/// ellipsis between them: names differ at their ends.
[[nodiscard]] std::string elided_middle(const std::string& text, double ems);

/// A row's label in `room_mm` at `size_pt`: in one line; or in two, which begin after the last ", "
/// ("vit as adder", "head 2") or as in_two_lines breaks it; shortened by elided_middle if that is
/// not enough.
[[nodiscard]] std::string row_label(const std::string& label, double room_mm, double size_pt);

/// Height in mm of the tallest legend below a panel of the figure, or of the shared legend, for a
/// figure of this width at 7 pt; 0 if there is none.
[[nodiscard]] double legend_mm(const Figure& figure, double width_mm);

}  // namespace attnscope
