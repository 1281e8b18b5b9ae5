// Composes several figures on one page.
#pragma once

#include <functional>
#include <vector>

#include "analysis/figure/page.h"
#include "analysis/figure/recipe.h"

namespace attnscope {

struct CompositeOptions {
  double width_mm = 174;
  /// Size of axis labels, which `make` uses too; 0: the figures' default.
  double font_size_pt = 0;
  bool letters = true;
  /// Use one colour scale, with one bar at the right, for all heat maps of the same quantity.
  bool shared_colours = false;
  /// Draw one legend below the page; otherwise each figure has its own.
  bool shared_legend = false;
};

/// Makes the figure of one cell at its width on the page.
using MakeCell = std::function<Figure(const PageCell& cell, double width_mm)>;

/// The page as one figure: cells of a row are side by side, each as wide as its share, in a row as
/// high as its highest cell. The caption joins those of the cells, (a), (b), …; numbers are named
/// "a/NAME". Throws Error(usage) if a cell does not fit, and what `make` throws. `make` is called
/// for the cells in order, row after row.
[[nodiscard]] Figure compose(const Page& page, const CompositeOptions& options,
                             const MakeCell& make);

/// The request with only the subjects of one cell. Throws Error(usage) for an unknown subject.
[[nodiscard]] FigureRequest cell_request(const FigureRequest& request, const PageCell& cell,
                                         double width_mm);

}  // namespace attnscope
