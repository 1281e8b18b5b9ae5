// Lines of a text, and what stands on them.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace attnscope {

/// The text without spaces, tabs and line ends at both ends; a part of `text`.
[[nodiscard]] inline std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

/// The lines of a text without their ends; parts of `text`. A last line without an end counts.
[[nodiscard]] inline std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace attnscope
