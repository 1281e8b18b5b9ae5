// Figure widths that papers and slides require.
#pragma once

#include <span>
#include <string_view>

namespace attnscope {

struct WidthPreset {
  std::string_view name;   ///< value of --width: "column"
  std::string_view title;  ///< "One column"
  double width_mm = 0;
  double height_mm = 0;  ///< height of the whole frame; 0: the figure's own height
};

[[nodiscard]] inline std::span<const WidthPreset> width_presets() {
  static constexpr WidthPreset list[] = {{"column", "One column", 84, 0},
                                         {"page", "Two columns", 174, 0},
                                         {"beamer", "Beamer", 128, 96}};
  return list;
}

}  // namespace attnscope
