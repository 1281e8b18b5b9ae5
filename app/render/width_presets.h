// Widths that papers and slides ask for.
#pragma once

#include <span>
#include <string_view>

namespace attnscope {

struct WidthPreset {
  std::string_view name;   ///< "column", what --width takes
  std::string_view title;  ///< "One column"
  double width_mm = 0;
  double height_mm = 0;  ///< of the whole frame; 0: as high as the figure is
};

[[nodiscard]] inline std::span<const WidthPreset> width_presets() {
  static constexpr WidthPreset list[] = {{"column", "One column", 84, 0},
                                         {"page", "Two columns", 174, 0},
                                         {"beamer", "Beamer", 128, 96}};
  return list;
}

}  // namespace attnscope
