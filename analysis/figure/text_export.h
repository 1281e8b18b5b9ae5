// Figures as text: their numbers, the whole as data, and PGFPlots source.
#pragma once

#include <string>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Every series' numbers in long form: one line a point, under the header
/// `panel,series,kind,x,y,value`. A heat map's cells have x = column, y = row. Comment lines (#)
/// say how it was made. Numbers round-trip.
[[nodiscard]] std::string figure_as_csv(const Figure& figure);

/// The whole figure: panels, axes, marks, colour scales, numbers; NaN becomes null. The names are
/// those of figure.h.
[[nodiscard]] std::string figure_as_json(const Figure& figure);

/// A standalone LaTeX document that draws the figure with PGFPlots (1.16 or later) from data inside
/// it, at its width in mm. Heat maps up to 4096 cells a panel are matrix plots of their values;
/// larger ones, which TeX has no memory for, are embedded as an image of their colours.
[[nodiscard]] std::string figure_as_tex(const Figure& figure);

}  // namespace attnscope
