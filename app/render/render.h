// Figure → QCustomPlot → screen, PDF, SVG, PNG.
#pragma once

#include <filesystem>

#include "analysis/figure/figure.h"

class QCustomPlot;

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
  cells,      ///< every cell an area of its colour: sharp at any zoom
  pixels      ///< an embedded image, one pixel a cell
};

struct ExportOptions {
  double png_dpi = 300;
  bool transparent = false;
  HeatMapExport heat_maps = HeatMapExport::automatic;
};

/// Throws Error(usage) listing the extensions export_figure writes if `file` has none of them.
void check_export_path(const std::filesystem::path& file);

/// Writes .pdf, .svg or .png (vectors true, text as text) by QCustomPlot, or .csv, .tex, .json by
/// analysis/figure: decided by the extension. Beside, then renamed. Throws Error(usage) listing the
/// extensions, Error(io). Needs a QApplication for pdf, svg and png: see application.h.
void export_figure(const Figure& figure, const std::filesystem::path& file,
                   const ExportOptions& options = {});

}  // namespace attnscope
