// Style of a figure for its publication, applied after it is made.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

enum class LineLook {
  as_made,   ///< colours and dashes of the figure
  distinct,  ///< each line also has its own dash, for prints in grey
  grey       ///< like distinct, and all colours are greys
};

struct FigureStyle {
  std::string font_family = {};  ///< the figure's own if empty
  double height_mm = 0;          ///< 0: the figure's own; else 20 to 1000
  std::string colour_map =
      {};  ///< for heat maps; the figure's own if empty. Signed scales stay diverging
  LineLook lines = LineLook::as_made;
  bool letters = false;  ///< letters a, b, c before its panels, or before the figures of a page
  bool shared_legend = false;
  std::string caption = {};  ///< replaces the draft caption unless empty

  bool operator==(const FigureStyle&) const = default;
};

/// Applies the style. Throws Error(usage) for a height out of range or an unknown colour map.
[[nodiscard]] Figure dressed(Figure figure, const FigureStyle& style);

/// The name of a look: "as-made", "distinct", "grey".
[[nodiscard]] std::string_view name_of(LineLook look);
/// Finds a look by name. Throws Error(usage) listing them.
[[nodiscard]] LineLook line_look(std::string_view name);

/// The style as words of a command line: "--font-family", "Noto Sans", …; defaults are omitted.
[[nodiscard]] std::vector<std::string> style_arguments(const FigureStyle& style);

/// The letter of a panel, or of a figure on a page: "a" for 0, "z" for 25, "aa" for 26.
[[nodiscard]] std::string panel_letter(std::size_t index);

/// A figure width that a journal, a conference or slides require.
struct WidthPreset {
  std::string_view name;   ///< value of --width: "icml-column"
  std::string_view title;  ///< "ICML, one column"
  double width_mm = 0;
  double height_mm = 0;  ///< height of the whole frame; 0: the figure's own height
};

/// Widths of usual journals and conferences, as their author guidelines or LaTeX classes have them.
[[nodiscard]] std::span<const WidthPreset> width_presets();

}  // namespace attnscope
