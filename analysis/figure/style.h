// How a figure is dressed for where it will stand: the same for every figure, after it is made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

enum class LineLook {
  as_made,   ///< colours and dashes as the figure has them
  distinct,  ///< each line its own dash too, so that a grey print still tells them apart
  grey       ///< the same, and every colour a grey
};

struct FigureStyle {
  std::string font_family = {};  ///< its own if empty
  double height_mm = 0;          ///< its own if 0; 20 to 1000
  std::string colour_map =
      {};  ///< of its heat maps; theirs if empty. A signed scale stays diverging
  LineLook lines = LineLook::as_made;
  bool letters = false;  ///< a, b, c before its panels, or before the figures of a page
  bool shared_legend = false;
  std::string caption = {};  ///< instead of the draft, if not empty

  bool operator==(const FigureStyle&) const = default;
};

/// The figure so dressed. Throws Error(usage) for a height out of range or an unknown colour map.
[[nodiscard]] Figure dressed(Figure figure, const FigureStyle& style);

/// "as-made", "distinct", "grey".
[[nodiscard]] std::string_view name_of(LineLook look);
/// Throws Error(usage) listing the looks.
[[nodiscard]] LineLook line_look(std::string_view name);

/// The style as words of a command line: "--font-family", "Noto Sans", …; none for what is default.
[[nodiscard]] std::vector<std::string> style_arguments(const FigureStyle& style);

/// "a" for 0, "z" for 25, "aa" for 26: panels and figures of a page.
[[nodiscard]] std::string panel_letter(std::size_t index);

}  // namespace attnscope
