// Makes names and labels from untrusted files safe to display: on a terminal, where control
// sequences move the cursor or set the title; in SVG, which a control character makes invalid; and
// in a window, where bidirectional marks make one name look like another.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// `text` in one line of valid UTF-8. Control characters, line and paragraph separators,
/// bidirectional marks and invalid UTF-8 bytes become visible: "\n", "\x1B", "\u202E". Other text,
/// including backslashes, is unchanged. Apply it where a name is read from a file. The function is
/// idempotent.
[[nodiscard]] std::string shown_text(std::string_view text);

/// Like shown_text, but keeps line feeds.
[[nodiscard]] std::string shown_lines(std::string_view text);

}  // namespace attnscope
