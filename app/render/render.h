// Draws a figure into a QCustomPlot, and writes it as PDF, SVG, PNG and other formats.
#pragma once

#include <QColor>
#include <QImage>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/figure.h"

class QCustomPlot;

namespace attnscope {

/// Theme of a figure: light for paper, dark for the dark theme. Only figures on the screen may be
/// dark.
enum class FigureTheme { light, dark };

/// Fills `plot` (cleared first) with the figure. Font sizes fit the plot's current pixel size, and
/// the layout adapts when the plot is resized. The plot's axis rects are in the order of
/// figure.panels, followed by colour bars. The caller replots.
void draw(const Figure& figure, QCustomPlot& plot, FigureTheme theme);

/// Form of heat maps in PDF and SVG. Everything else is always vectors and text.
enum class HeatMapExport {
  automatic,  ///< cells, or pixels if there are too many cells (most_areas, render.cpp)
  cells,      ///< one coloured area per cell: sharp at any zoom, in every viewer
  pixels      ///< a lossless embedded image with one pixel per cell: small files
};

/// Place of the provenance of a .csv; the other formats have a field for it.
enum class CsvProvenance {
  file,     ///< a file FILE.csv-metadata.json next to it, with the meaning of the columns
  comment,  ///< lines before the header that begin with #
  none
};

struct ExportOptions {
  double png_dpi = 300;
  bool transparent = false;
  HeatMapExport heat_maps = HeatMapExport::automatic;
  CsvProvenance csv_provenance = CsvProvenance::file;
};

/// A file format of figures.
struct ExportFormat {
  std::string_view extension;  ///< ".pdf"
  std::string_view title;      ///< "PDF"
  std::string_view holds;      ///< "vectors and text, for LaTeX"
  bool drawn = false;          ///< a picture; otherwise numbers or source
};
[[nodiscard]] std::span<const ExportFormat> export_formats();

/// Throws Error(usage) with the list of extensions unless export_figure can write `file`.
void check_export_path(const std::filesystem::path& file);

/// Writes .pdf, .svg or .png (as vectors and text where the format allows) by QCustomPlot, or .csv,
/// .tex, .json, .h5, .npz by analysis/figure, depending on the extension. Returns the files
/// written: `file`, and next to it the pictures of a .tex (STEM-01.png …) and the metadata of a
/// .csv. All files are first written under temporary names and then renamed, so a failure leaves
/// earlier files intact. Throws Error(usage) for another extension, or if one of the files would
/// replace a file that was read; Error(io). A QApplication is required for pdf, svg and png
/// (application.h).
std::vector<std::filesystem::path> export_figure(const Figure& figure,
                                                 const std::filesystem::path& file,
                                                 const ExportOptions& options = {});

/// The pixels of a .png, of width_mm / 25.4 · dpi by height_mm / 25.4 · dpi.
[[nodiscard]] QImage figure_as_image(const Figure& figure, double dpi, bool transparent = false);

/// Throws Error(usage) if the font family is not installed; Qt would silently use another one.
void check_font_family(const std::string& family);

/// Version of QCustomPlot's headers, for bug reports.
[[nodiscard]] std::string plot_library_version();

/// Colours of a figure: one set for paper, one for a dark window.
struct ThemeColours {
  QColor background, text, axis, faint;  ///< faint: drop lines, frames of maps
};

[[nodiscard]] ThemeColours colours_of(FigureTheme theme);

/// A mark's colour in the theme: on a dark background, dark colours become light ones of the same
/// hue.
[[nodiscard]] QColor ink(const Colour& colour, FigureTheme theme);

/// An animation, several pictures in one file: the bytes of an animated PNG
/// (core/file/png_writer.h) of opaque pictures of equal size. Throws Error(usage) if their sizes
/// differ.
[[nodiscard]] std::string film_of(std::span<const QImage> frames, std::int64_t milliseconds);

}  // namespace attnscope
