// Figures as files of numbers and as source: CSV, JSON, HDF5, NPZ, PGFPlots. See docs/exports.md.
#pragma once

#include <string>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Every number of the figure, tidy: one header, one row a value, under
///   figure,panel_row,panel_column,panel,KEYS…,mark,series,quantity,x,x_label,y,value
/// where KEYS are those of the figure's panels and marks (model, layer, head, …). Numbers
/// round-trip, NaN is nan, and no text is run as a formula by a spreadsheet. A figure that is a
/// table is written as that table.
[[nodiscard]] std::string figure_as_csv(const Figure& figure);

/// How it was made, as lines that begin with #: to stand before figure_as_csv.
[[nodiscard]] std::string csv_comments(const Figure& figure);

/// The same and what the columns mean, as "CSV on the Web" has it (W3C, Metadata Vocabulary for
/// Tabular Data): to stand beside the file of that name as NAME-metadata.json.
[[nodiscard]] std::string csv_metadata(const Figure& figure, const std::string& file_name);

/// The whole figure: panels, axes, marks, colour scales, numbers; NaN becomes null. The names are
/// those of figure.h.
[[nodiscard]] std::string figure_as_json(const Figure& figure);

/// The bytes of an HDF5 file with the figure's numbers, the same for the same figure:
///   /panel_00/mark_00/{x,y}            of a line, a point or bars (heights as y), float64
///   /panel_00/mark_00/{x,low,high}     of a band
///   /panel_00/mark_00/values           float32 [rows, columns] of a heat map; x, y: their indices
///   /panel_00/mark_00/pixels           uint8 [height, width, channels] of a picture
///   /numbers/NAME/values               what a table may print; / in a name makes a group
///   /table                             texts [rows + 1, columns] of a figure that is a table
/// Attributes say the rest: `title`, `caption`, `command`, `models`, `software` of the root,
/// `kind`, `label` and keys (`model`, `layer`, …) of marks and panels, `title`, `x_label`,
/// `y_label`, `row`, `column` of panels. Panels are NXentry and marks NXdata groups of NeXus, which
/// h5py's readers and H5Web draw. Throws Error(io).
[[nodiscard]] std::string figure_as_hdf5(const Figure& figure);

/// The bytes of a NumPy .npz file with the same arrays under the same paths, without the first /,
/// and the attributes as arrays of one text beside them: f["panel_00/mark_00/label"].
[[nodiscard]] std::string figure_as_npz(const Figure& figure);

/// A LaTeX document and the pictures that it includes.
struct TexFigure {
  struct File {
    std::string name, bytes;
  };
  std::string source;
  std::vector<File> images;  ///< PNG, to stand beside the source
};

/// The figure drawn with PGFPlots (1.16 or later) from data inside the source, on a page of exactly
/// its width and height; a figure that is a table as one. Heat maps are plots of their values where
/// the figure has 1500 cells at most, else (and where a map is a single row or column) pictures of
/// one pixel a cell, `name`-01.png and so on.
[[nodiscard]] TexFigure figure_as_tex(const Figure& figure, const std::string& name = "figure");

}  // namespace attnscope
