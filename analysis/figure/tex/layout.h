// Where panels, bars and legends stand on a page that TeX typesets.
#pragma once

#include <string>
#include <vector>

#include "analysis/figure/axis_range.h"
#include "analysis/figure/figure.h"

namespace attnscope {

/// In mm, from the page's lower left corner up and to the right.
struct TexBox {
  double x = 0, y = 0, width = 0, height = 0;
};

struct TexPanel {
  const Panel* panel = nullptr;
  PanelRange range;
  std::vector<Tick> x_ticks, y_ticks;
  TexBox frame;
  std::string title, y_label;  ///< broken or shortened as the room asks
  double left_mm = 0;          ///< from the frame to the left end of its texts
  double title_mm = 0;         ///< from the frame to the title above it
  TexBox legend_room;          ///< of a legend that stands below
};

struct TexBar {
  std::size_t colour_scale = 0;
  TexBox frame;
  std::string label;  ///< the scale's, broken as the room asks
};

struct TexLayout {
  std::vector<TexPanel> panels;
  std::vector<TexBar> bars;
};

/// The labels of a panel's legend, in order.
[[nodiscard]] std::vector<std::string> legend_labels(const Panel& panel);

/// Places the panels of one area of the figure (all of them where it has none) into `room`: aligned
/// frames, square cells, bars at the right of the panels that share them. Texts are measured as
/// wide as in DejaVu Sans, which no font of TeX's exceeds.
[[nodiscard]] TexLayout tex_layout(const Figure& figure, std::size_t area, const TexBox& room);

}  // namespace attnscope
