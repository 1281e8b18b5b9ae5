// A page of several figures: its layout as text and as data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/parameters/parameters.h"

namespace attnscope {

struct PageCell {
  std::string figure;  ///< name of a recipe
  ParameterValues settings = {};
  std::vector<std::size_t> subjects = {};  ///< indices into the request's; all if empty
  double share = 1;                        ///< relative width in its row; above 0
  std::string title = {};                  ///< title above the cell; none if empty

  bool operator==(const PageCell&) const = default;
};

/// Rows from top to bottom, cells from left to right.
struct Page {
  std::vector<std::vector<PageCell>> rows;

  bool operator==(const Page&) const = default;
};

/// Parses "NAME [key=value; …] | NAME / NAME": cells of a row are separated by |, rows by /. Keys
/// are the figure's settings, and `subjects` (0,2), `share`, `title`. A value that holds ; or ] or
/// " is written in double quotes, with \" for a quote. Throws Error(usage) with the position of a
/// syntax error, or for an unknown figure or setting.
[[nodiscard]] Page parse_page(std::string_view text);

/// The page as text that parse_page reads back as the same page.
[[nodiscard]] std::string to_string(const Page& page);

}  // namespace attnscope
