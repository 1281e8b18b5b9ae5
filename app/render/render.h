// Figure → QCustomPlot → screen, PDF, SVG, PNG.
#pragma once

#include <filesystem>

#include "analysis/figure/figure.h"

class QCustomPlot;

namespace attnscope {

/// Light for paper; dark for the dark theme. Only the screen may be dark.
enum class FigureTheme { light, dark };

/// Fills `plot` (cleared first) with the figure at its current pixel size.
void draw(const Figure& figure, QCustomPlot& plot, FigureTheme theme);

struct ExportOptions {
  double png_dpi = 300;
  bool transparent = false;
};

/// Writes .pdf, .svg or .png (vectors true, text as text) by QCustomPlot, or .csv, .tex, .json by
/// analysis/figure: decided by the extension. Beside, then renamed. Throws Error(usage) listing the
/// extensions, Error(io). Needs a QGuiApplication for pdf, svg and png.
void export_figure(const Figure& figure, const std::filesystem::path& file,
                   const ExportOptions& options = {});

}  // namespace attnscope
