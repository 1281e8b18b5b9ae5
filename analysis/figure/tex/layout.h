// Layout of panels, bars and legends on a page that TeX typesets. Legends are TikZ matrices, whose
// texts TeX measures; colour bars are drawn in TikZ.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/figure.h"
#include "analysis/figure/ticks.h"

namespace attnscope {

/// A rectangle in mm; the origin is the page's lower left corner.
struct TexBox {
  double x = 0, y = 0, width = 0, height = 0;
};

struct TexPanel {
  const Panel* panel = nullptr;
  PanelRange range;
  std::vector<Tick> x_ticks, y_ticks;
  TexBox frame;
  std::string title, y_label;  ///< broken or shortened to fit
  double left_mm = 0;          ///< distance from the frame to the left end of its texts
  double title_mm = 0;         ///< distance from the frame to the title above it
  TexBox legend_room;          ///< area for a legend below the panel
};

struct TexBar {
  std::size_t colour_scale = 0;
  TexBox frame;
  std::string label;  ///< label of the scale, broken to fit
};

struct TexLayout {
  std::vector<TexPanel> panels;
  std::vector<TexBar> bars;
};

/// The labels of a panel's legend, in order.
[[nodiscard]] std::vector<std::string> legend_labels(const Panel& panel);

/// Places the panels of one area of the figure (all if it has no areas) into `room`: aligned
/// frames, square cells, bars at the right of the panels that share them. Text widths are those of
/// DejaVu Sans, which is at least as wide as TeX's fonts.
[[nodiscard]] TexLayout tex_layout(const Figure& figure, std::size_t area, const TexBox& room);

/// A legend of the panel's series, below it or inside a corner of its frame; empty if the panel has
/// no legend.
[[nodiscard]] std::string tex_legend(const TexPanel& panel);

/// One legend for all panels of the figure in `room`, each series once.
[[nodiscard]] std::string tex_shared_legend(const Figure& figure, const TexBox& room);

/// The scale's colours at even fractions of its range, 0 to 1.
[[nodiscard]] std::vector<std::pair<double, Colour>> colour_stops(const ColourScale& scale);

/// The colour bar: a shading, its ticks, its label, and arrowheads for values beyond its ends.
[[nodiscard]] std::string tex_bar(const Figure& figure, const TexBar& bar);

}  // namespace attnscope
