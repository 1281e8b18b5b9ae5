// Exports figures as numbers and as source: CSV, JSON, HDF5, NPZ, PGFPlots. See docs/exports.md.
#pragma once

#include <string>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// All numbers of the figure as tidy data: a header and one row per value, with the columns
///   figure,panel_row,panel_column,panel,KEYS…,mark,series,quantity,x,x_label,y,value
/// KEYS are the keys of the figure's panels and marks (model, layer, head, …). Numbers round-trip,
/// NaN is nan, and texts are escaped that a spreadsheet would run as a formula. A figure that is a
/// table is written as that table.
[[nodiscard]] std::string figure_as_csv(const Figure& figure);

/// The figure's provenance as lines that begin with #, to precede figure_as_csv.
[[nodiscard]] std::string csv_comments(const Figure& figure);

/// The provenance and the meaning of the columns in the format "CSV on the Web" (W3C, Metadata
/// Vocabulary for Tabular Data), to be saved next to the CSV file as NAME-metadata.json.
[[nodiscard]] std::string csv_metadata(const Figure& figure, const std::string& file_name);

/// The whole figure: panels, axes, marks, colour scales, numbers; NaN becomes null. Names are those
/// of figure.h.
[[nodiscard]] std::string figure_as_json(const Figure& figure);

/// The bytes of an HDF5 file with the figure's numbers; equal figures give equal bytes:
///   /panel_00/mark_00/{x,y}            of a line, a point or bars (heights as y), float64
///   /panel_00/mark_00/{x,low,high}     of a band
///   /panel_00/mark_00/values           float32 [rows, columns] of a heat map; x, y: their indices
///   /panel_00/mark_00/pixels           uint8 [height, width, channels] of a picture
///   /numbers/NAME/values               numbers for tables; / in a name makes a group
///   /table                             texts [rows + 1, columns] of a figure that is a table
/// Attributes hold the rest: `title`, `caption`, `command`, `models`, `software` of the root,
/// `kind`, `label` and keys (`model`, `layer`, …) of marks and panels, `title`, `x_label`,
/// `y_label`, `row`, `column` of panels. Panels are NXentry and marks NXdata groups of NeXus, which
/// h5py's readers and H5Web draw. Throws Error(io).
[[nodiscard]] std::string figure_as_hdf5(const Figure& figure);

/// The bytes of a NumPy .npz file with the same arrays under the same paths, without the first /,
/// and the attributes as one-element text arrays: f["panel_00/mark_00/label"].
[[nodiscard]] std::string figure_as_npz(const Figure& figure);

/// A LaTeX document and the pictures that it includes.
struct TexFigure {
  struct File {
    std::string name, bytes;
  };
  std::string source;
  std::vector<File> images;  ///< PNG files to be saved next to the source
};

/// The figure drawn with PGFPlots (1.16 or later) from data inside the source, on a page of exactly
/// its width and height; a figure that is a table as a table. Heat maps are plots of their values
/// if the figure has at most 1500 cells, else (and if a map has a single row or column) pictures
/// with one pixel per cell, `name`-01.png and so on.
[[nodiscard]] TexFigure figure_as_tex(const Figure& figure, const std::string& name = "figure");

}  // namespace attnscope
