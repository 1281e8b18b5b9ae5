// Figures as files of numbers and as source: CSV, JSON, HDF5, PGFPlots.
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

/// The bytes of an HDF5 file with the figure's numbers, the same for the same figure:
///   /panel_00/mark_00/{x,y}            of a line or bars (heights as y), in double precision
///   /panel_00/mark_00/{x,low,high}     of a band
///   /panel_00/mark_00/values           float [rows, columns] of a heat map
///   /panel_00/mark_00/pixels           uint8 [height, width, channels] of a picture
///   /numbers/NAME/values               what a table may print; / in a name makes a group
///   /table                             texts [rows + 1, columns] of a figure that is a table
/// Attributes say the rest: `title`, `caption`, `command` of the root, `kind` and `label` of marks,
/// `title`, `x_label`, `y_label`, `row`, `column` of panels. Throws Error(io).
[[nodiscard]] std::string figure_as_hdf5(const Figure& figure);

/// A standalone LaTeX document that draws the figure with PGFPlots (1.16 or later) from data inside
/// it, at its width in mm. Heat maps up to 4096 cells a panel are matrix plots of their values;
/// larger ones, which TeX has no memory for, are embedded as an image of their colours.
[[nodiscard]] std::string figure_as_tex(const Figure& figure);

}  // namespace attnscope
