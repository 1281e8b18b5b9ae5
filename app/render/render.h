// Figure → QCustomPlot → screen, PDF, SVG, PNG.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/figure.h"

class QCustomPlot;
class QImage;

namespace attnscope {

/// Light for paper; dark for the dark theme. Only the screen may be dark.
enum class FigureTheme { light, dark };

/// Fills `plot` (cleared first) with the figure, type sized for the plot's current pixel size; the
/// layout follows when the plot is resized. The plot's axis rects come in the order of
/// figure.panels, colour bars after them. The caller replots.
void draw(const Figure& figure, QCustomPlot& plot, FigureTheme theme);

/// How heat maps enter PDF and SVG. Everything else there is always vectors and text.
enum class HeatMapExport {
  automatic,  ///< cells, unless they are too many (heat_map_limits.h): then pixels
  cells,      ///< every cell an area of its colour: sharp at any zoom, in every reader
  pixels      ///< an embedded image of one pixel a cell, without loss: light
};

/// Where a .csv says how it was made: the other formats have a place for it.
enum class CsvProvenance {
  file,     ///< in a file beside it, FILE.csv-metadata.json, with what the columns mean
  comment,  ///< in lines before its header that begin with #
  none
};

struct ExportOptions {
  double png_dpi = 300;
  bool transparent = false;
  HeatMapExport heat_maps = HeatMapExport::automatic;
  CsvProvenance csv_provenance = CsvProvenance::file;
};

/// One kind of file a figure can be written as.
struct ExportFormat {
  std::string_view extension;  ///< ".pdf"
  std::string_view title;      ///< "PDF"
  std::string_view holds;      ///< "vectors and text, for LaTeX"
  bool drawn = false;          ///< a picture; else numbers or source
};
[[nodiscard]] std::span<const ExportFormat> export_formats();

/// Throws Error(usage) listing the extensions export_figure writes if `file` has none of them.
void check_export_path(const std::filesystem::path& file);

/// Writes .pdf, .svg or .png (vectors true, text as text) by QCustomPlot, or .csv, .tex, .json,
/// .h5, .npz by analysis/figure: decided by the extension. Returns the files written: `file`, and
/// beside it the pictures of a .tex (STEM-01.png …) and the metadata of a .csv. Each beside, then
/// renamed: where one fails, what stood there stays. Throws Error(usage) listing the extensions, or
/// where a file that was read would be replaced, those beside included; Error(io). Needs a
/// QApplication for pdf, svg and png: see application.h.
std::vector<std::filesystem::path> export_figure(const Figure& figure,
                                                 const std::filesystem::path& file,
                                                 const ExportOptions& options = {});

/// The pixels that .png has, of a figure of width_mm / 25.4 · dpi by height_mm / 25.4 · dpi.
[[nodiscard]] QImage figure_as_image(const Figure& figure, double dpi, bool transparent = false);

/// Throws Error(usage) if there is no such font family here: Qt would take another, silently.
void check_font_family(const std::string& family);

}  // namespace attnscope
