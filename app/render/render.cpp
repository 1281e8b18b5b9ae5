#include "app/render/render.h"

#include <QBuffer>
#include <QFontDatabase>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <qcustomplot.h>
#include <string>

#include "analysis/figure/cells.h"
#include "analysis/figure/provenance.h"
#include "analysis/figure/text_export.h"
#include "app/render/draw.h"
#include "app/render/heat_map_limits.h"
#include "app/render/pdf_metadata.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

constexpr double units_per_mm = 100;  // resolution of vector files, whose layout is in whole units
constexpr double mm_per_inch = 25.4;

QSize extent_in(const Figure& figure, double pixels_per_mm) {
  return QSizeF(figure.width_mm * pixels_per_mm, figure.height_mm * pixels_per_mm).toSize();
}

bool too_many_areas(const Figure& figure) {
  std::int64_t count = 0;
  for (const Panel& panel : figure.panels) {
    for (const CellDrawing& drawing : cell_drawings(panel, figure.colour_scales)) {
      count += run_count(drawing.cells);
    }
  }
  return count > most_areas;
}

/// Draws the figure with `pixels_per_mm` onto any device, through a separate plot, without
/// repainting a window.
void paint(const Figure& figure, QPaintDevice& device, double pixels_per_mm, bool vectors,
           const DrawOptions& wanted) {
  const QSize extent = extent_in(figure, pixels_per_mm);
  DrawOptions options = wanted;
  options.pixels_per_pt = pixels_per_mm * mm_per_inch / 72;
  options.width_pixels = extent.width();

  QCustomPlot plot;
  draw(figure, plot, options);
  QCPPainter painter;
  if (!painter.begin(&device)) {
    throw Error(ErrorKind::io, "the figure could not be painted").about(figure.name);
  }
  // Files name the painter's first font even if it is unused, so it must be the figure's instead of
  // the program's.
  QFont font(QString::fromStdString(figure.font_family));
  font.setPointSizeF(figure.font_size_pt);
  painter.setFont(font);
  painter.setMode(QCPPainter::pmVectorized, vectors);
  painter.setMode(QCPPainter::pmNoCaching);
  painter.setMode(QCPPainter::pmNonCosmetic, vectors);
  plot.toPainter(&painter, extent.width(), extent.height());
  painter.end();
}

DrawOptions drawing_options(const Figure& figure, const ExportOptions& options) {
  DrawOptions drawing;
  drawing.transparent = options.transparent;
  drawing.heat_maps_as_pixels =
      options.heat_maps == HeatMapExport::pixels ||
      (options.heat_maps == HeatMapExport::automatic && too_many_areas(figure));
  return drawing;
}

QByteArray pdf(const Figure& figure, const ExportOptions& options) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer);
    writer.setResolution(static_cast<int>(units_per_mm * mm_per_inch));
    writer.setPageSize(QPageSize(QSizeF(figure.width_mm, figure.height_mm), QPageSize::Millimeter,
                                 QString(), QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    paint(figure, writer, units_per_mm, true, drawing_options(figure, options));
  }
  return with_provenance(buffer.data(), figure);
}

QByteArray svg(const Figure& figure, const ExportOptions& options) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  {
    const QSize extent = extent_in(figure, units_per_mm);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setResolution(static_cast<int>(units_per_mm * mm_per_inch));
    generator.setSize(extent);
    generator.setViewBox(QRect(QPoint(0, 0), extent));
    // The generator does not escape title and description.
    generator.setTitle(QString::fromStdString(figure.title).toHtmlEscaped());
    std::string description;
    for (const auto& [name, text] : provenance_of(figure)) {
      if (name == "Title") continue;
      description += (name == "Description" ? text : name + ": " + text) + "\n";
    }
    generator.setDescription(QString::fromStdString(description).toHtmlEscaped());
    paint(figure, generator, units_per_mm, true, drawing_options(figure, options));
  }
  // Qt's attribute against smoothing is no longer supported by browsers.
  QByteArray text = buffer.data();
  return text.replace("<image ", "<image style=\"image-rendering:pixelated\" ");
}

QByteArray png(const Figure& figure, const ExportOptions& options) {
  QImage image = figure_as_image(figure, options.png_dpi, options.transparent);
  for (const auto& [name, text] : provenance_of(figure)) {
    image.setText(QString::fromStdString(name), QString::fromStdString(text));
  }
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return buffer.data();
}

std::string extension_of(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

}  // namespace

std::span<const ExportFormat> export_formats() {
  static constexpr ExportFormat list[] = {
      {".pdf", "PDF", "vectors and text, for LaTeX", true},
      {".svg", "SVG", "vectors and text, to edit or for the web", true},
      {".png", "PNG", "pixels", true},
      {".tex", "PGFPlots", "LaTeX source that draws it", false},
      {".csv", "CSV", "every number, one row a value", false},
      {".json", "JSON", "the whole figure as data", false},
      {".h5", "HDF5", "every number, as arrays", false},
      {".npz", "NPZ", "every number, as NumPy's arrays", false},
  };
  return list;
}

void check_export_path(const std::filesystem::path& file) {
  const std::string extension = extension_of(file);
  for (const ExportFormat& known : export_formats()) {
    if (extension == known.extension) return;
  }
  throw Error(ErrorKind::usage, "a figure cannot be written as this kind of file")
      .in_file(file)
      .expected("an extension of " + name_list(export_formats(), &ExportFormat::extension))
      .found(extension.empty() ? "none" : extension);
}

namespace {

/// The contents of the figure's files: accompanying files first, `file` itself last.
std::vector<FileContent> files_of(const Figure& figure, const fs::path& file,
                                  const ExportOptions& options) {
  const std::string extension = extension_of(file);
  if (extension == ".pdf") return {{file, pdf(figure, options).toStdString()}};
  if (extension == ".svg") return {{file, svg(figure, options).toStdString()}};
  if (extension == ".png") return {{file, png(figure, options).toStdString()}};
  if (extension == ".json") return {{file, figure_as_json(figure)}};
  if (extension == ".h5") return {{file, figure_as_hdf5(figure)}};
  if (extension == ".npz") return {{file, figure_as_npz(figure)}};
  std::vector<FileContent> files;
  if (extension == ".tex") {
    TexFigure tex = figure_as_tex(figure, file.stem().string());
    for (TexFigure::File& image : tex.images) {
      files.push_back({file.parent_path() / image.name, std::move(image.bytes)});
    }
    files.push_back({file, std::move(tex.source)});
    return files;
  }
  if (options.csv_provenance == CsvProvenance::file) {
    files.push_back(
        {file.string() + "-metadata.json", csv_metadata(figure, file.filename().string())});
  }
  const bool comments = options.csv_provenance == CsvProvenance::comment;
  files.push_back(
      {file, (comments ? csv_comments(figure) : std::string()) + figure_as_csv(figure)});
  return files;
}

}  // namespace

std::vector<fs::path> export_figure(const Figure& figure, const fs::path& file,
                                    const ExportOptions& options) {
  check_export_path(file);
  const std::vector<FileContent> files = files_of(figure, file, options);
  for (const FileContent& one : files) refuse_to_overwrite_read(one.path);
  write_files(files);
  std::vector<fs::path> written;
  written.reserve(files.size());
  for (const FileContent& one : files) written.push_back(one.path);
  return written;
}

QImage figure_as_image(const Figure& figure, double dpi, bool transparent) {
  const double pixels_per_mm = dpi / mm_per_inch;
  QImage image(extent_in(figure, pixels_per_mm), QImage::Format_ARGB32_Premultiplied);
  image.fill(transparent ? Qt::transparent : Qt::white);
  image.setDotsPerMeterX(static_cast<int>(std::lround(pixels_per_mm * 1000)));
  image.setDotsPerMeterY(static_cast<int>(std::lround(pixels_per_mm * 1000)));
  DrawOptions drawing;
  drawing.transparent = transparent;
  paint(figure, image, pixels_per_mm, false, drawing);
  if (!transparent) image.convertTo(QImage::Format_RGB32);
  return image;
}

void check_font_family(const std::string& family) {
  if (family.empty() || QFontDatabase::hasFamily(QString::fromStdString(family))) return;
  const std::string known = QFontDatabase::families().join(", ").toStdString();
  throw unknown_name("font family", family, known.empty() ? "none" : known);
}

std::string plot_library_version() { return QCUSTOMPLOT_VERSION_STR; }

}  // namespace attnscope
