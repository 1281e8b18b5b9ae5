// Names and labels from files of strangers, made fit to be shown: on a terminal, where a control
// sequence moves the cursor or sets the title; in SVG, which one control character makes invalid;
// in a window, where marks that turn the direction of writing make one name look like another.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// `text` in one line of valid UTF-8. Control characters, line and paragraph separators, marks of
/// direction and bytes that are no UTF-8 become visible: "\n", "\x1B", "\u202E". Other text stays
/// as it is, backslashes too. To be applied where a name enters from a file; what was shown once is
/// unchanged by a second time.
[[nodiscard]] std::string shown_text(std::string_view text);

/// The same for text that may have several lines: line feeds stay.
[[nodiscard]] std::string shown_lines(std::string_view text);

}  // namespace attnscope
