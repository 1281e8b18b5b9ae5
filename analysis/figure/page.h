// A page of several figures: which stands where, as text and as data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/parameters/parameters.h"

namespace attnscope {

struct PageCell {
  std::string figure;  ///< a recipe's name
  ParameterValues settings = {};
  std::vector<std::size_t> subjects = {};  ///< indices into the request's; all if empty
  double share = 1;                        ///< of its row's width, beside its neighbours'; above 0
  std::string title = {};                  ///< above it; none if empty

  bool operator==(const PageCell&) const = default;
};

/// Rows from top to bottom, cells from left to right.
struct Page {
  std::vector<std::vector<PageCell>> rows;

  bool operator==(const Page&) const = default;
};

/// Reads "NAME [key=value; …] | NAME / NAME": cells of a row are separated by |, rows by /. Keys
/// are the figure's settings, and `subjects` (0,2), `share`, `title`. A value that holds ; or ] or
/// " stands in double quotes, with \" for a quote. Throws Error(usage) saying where it is wrong, or
/// that it names a figure or a setting there is not.
[[nodiscard]] Page parse_page(std::string_view text);

/// What parse_page reads as the same page.
[[nodiscard]] std::string to_string(const Page& page);

}  // namespace attnscope
