// How much room texts take, before anything is drawn: near enough to plan a figure by.
#pragma once

#include <string>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Width of the text's longest line in ems, in DejaVu Sans.
[[nodiscard]] double text_ems(const std::string& text);
/// The same in mm, in type of `size_pt`.
[[nodiscard]] double text_mm(const std::string& text, double size_pt);

/// Lines of a text; 0 of an empty one.
[[nodiscard]] std::size_t lines_of(const std::string& text);

/// The text broken at blanks into lines of at most so many ems, where its words allow it.
[[nodiscard]] std::string wrapped(const std::string& text, double ems);

/// The label broken into two lines after the space, hyphen or underscore nearest its middle; as it
/// is if it has none, or two lines already.
[[nodiscard]] std::string in_two_lines(const std::string& label);

/// in_two_lines if the label would be longer than `room_mm` at `size_pt`, else as it is.
[[nodiscard]] std::string fitted(const std::string& label, double room_mm, double size_pt);

/// How many rows a legend of these labels, in type of 7 pt, takes in such a width: as few as it
/// allows, filled column by column, as legends are drawn.
[[nodiscard]] std::size_t legend_rows(const std::vector<std::string>& labels, double width_mm);

/// The text without the end that does not fit into so many ems, with an ellipsis; line by line.
[[nodiscard]] std::string elided(const std::string& text, double ems);

/// Height in mm of the tallest legend that stands below a panel of the figure, or of the one that
/// all share, in a figure so wide and in type of 7 pt; 0 without one.
[[nodiscard]] double legend_mm(const Figure& figure, double width_mm);

}  // namespace attnscope
