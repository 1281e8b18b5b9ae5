// Several figures on one page.
#pragma once

#include <functional>
#include <vector>

#include "analysis/figure/page.h"
#include "analysis/figure/recipe.h"

namespace attnscope {

struct CompositeOptions {
  double width_mm = 174;
  bool letters = true;
  /// One scale, and one bar at the right, for all heat maps of the same quantity.
  bool shared_colours = false;
};

/// Makes one cell's figure at the width it has on the page.
using MakeCell = std::function<Figure(const PageCell& cell, double width_mm)>;

/// The page as one figure: cells of a row stand side by side, each as wide as its share, as high as
/// the highest of them. Its caption joins theirs, (a), (b), …; its numbers are named "a/NAME".
/// Throws Error(usage) if there is no room for a cell, and what `make` throws.
[[nodiscard]] Figure compose(const Page& page, const CompositeOptions& options,
                             const MakeCell& make);

/// The request for one cell's subjects: those it chooses. Throws Error(usage) for one there is not.
[[nodiscard]] FigureRequest cell_request(const FigureRequest& request, const PageCell& cell,
                                         double width_mm);

}  // namespace attnscope
