#include "app/render/render.h"

#include <QBuffer>
#include <QByteArray>
#include <QFontDatabase>
#include <QHash>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <QString>
#include <QSvgGenerator>
#include <QUuid>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <qcustomplot.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/figure/cells.h"
#include "analysis/figure/figure.h"
#include "analysis/figure/text_export.h"
#include "app/render/draw.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"
#include "core/file/png_writer.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

/// The whole number after `key` in `text`, as in "/Width 197"; absent if there is none.
std::optional<qsizetype> number_after(const QByteArray& text, const char* key) {
  const qsizetype start = text.indexOf(key);
  if (start < 0) return std::nullopt;
  qsizetype end = start + static_cast<qsizetype>(std::strlen(key));
  const qsizetype first = end;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  bool is_number = false;
  const qlonglong number = text.mid(first, end - first).toLongLong(&is_number);
  return is_number ? std::optional<qsizetype>(number) : std::nullopt;
}

/// A PDF's table of objects, as QPdfWriter writes it: one section, free entry first.
struct ObjectTable {
  qsizetype begin = 0;             ///< position of "xref"
  std::vector<qsizetype> offsets;  ///< by number of the object; 0 for the free entry
  QByteArray trailer;              ///< from "trailer" to the line "startxref"
};

std::optional<ObjectTable> table_of(const QByteArray& pdf) {
  ObjectTable table;
  const qsizetype last = pdf.lastIndexOf("startxref\n");
  if (last < 0) return std::nullopt;
  const std::optional<qsizetype> begin = number_after(pdf.mid(last), "startxref\n");
  if (!begin || *begin >= last) return std::nullopt;
  table.begin = *begin;
  const QByteArray text = pdf.mid(table.begin, last - table.begin);
  const std::optional<qsizetype> count = number_after(text, "xref\n0 ");
  const qsizetype trailer = text.indexOf("trailer\n");
  constexpr qsizetype entry = 20;  // bytes, of which ten are the offset
  if (!count || trailer < 0 || trailer < *count * entry) return std::nullopt;
  const qsizetype first = trailer - *count * entry;
  for (qsizetype number = 0; number < *count; ++number) {
    const bool used = text[first + number * entry + entry - 3] == 'n';
    table.offsets.push_back(used ? text.mid(first + number * entry, 10).toLongLong() : 0);
  }
  table.trailer = text.mid(trailer);
  return table;
}

/// The stream of a picture as indices into its colours.
struct Indexed {
  QByteArray pixels, palette;  ///< a byte per pixel; three bytes per colour
};

std::optional<Indexed> indexed(const QByteArray& rgb) {
  constexpr qsizetype most_colours = 256;
  Indexed found;
  QHash<QByteArrayView, char> places;
  found.pixels.reserve(rgb.size() / 3);
  for (qsizetype at = 0; at + 3 <= rgb.size(); at += 3) {
    const QByteArrayView colour = QByteArrayView(rgb).sliced(at, 3);
    auto place = places.constFind(colour);
    if (place == places.constEnd()) {
      if (places.size() == most_colours) return std::nullopt;
      place = places.insert(colour, static_cast<char>(places.size()));
      found.palette += colour;
    }
    found.pixels += *place;
  }
  return found;
}

/// The object with its picture in palette form; unchanged if it holds none that can be.
QByteArray with_palette(const QByteArray& object, const QByteArray& pdf, const ObjectTable& table) {
  constexpr std::string_view stream = ">>\nstream\n", colours = "/ColorSpace /DeviceRGB\n";
  const qsizetype begin = object.indexOf(stream.data());
  if (begin < 0) return object;
  QByteArray head = object.left(begin);
  if (!head.contains("/Subtype /Image\n") || !head.contains(colours.data()) ||
      !head.contains("/BitsPerComponent 8\n") || !head.contains("/Filter /FlateDecode\n")) {
    return object;
  }
  const auto width = number_after(head, "/Width "), height = number_after(head, "/Height ");
  const auto length_object = number_after(head, "/Length ");
  if (!width || !height || !length_object ||
      *length_object >= static_cast<qsizetype>(table.offsets.size())) {
    return object;
  }
  const QByteArray reference = "/Length " + QByteArray::number(*length_object) + " 0 R\n";
  const auto length = number_after(
      pdf.mid(table.offsets[static_cast<std::size_t>(*length_object)], 64), " 0 obj\n");
  const qsizetype data = begin + static_cast<qsizetype>(stream.size());
  if (!length || !head.contains(reference) || data + *length > object.size()) return object;

  const qsizetype bytes = 3 * *width * *height;
  QByteArray sized(4, '\0');  // qUncompress expects the size before the data
  for (int i = 0; i < 4; ++i) sized[i] = static_cast<char>(bytes >> (24 - 8 * i) & 255);
  const QByteArray rgb = qUncompress(sized + object.mid(data, *length));
  if (rgb.size() != bytes) return object;
  const std::optional<Indexed> found = indexed(rgb);
  if (!found || found->palette.isEmpty()) return object;

  const QByteArray packed = qCompress(found->pixels, 9).mid(4);
  head.replace(colours.data(), "/ColorSpace [/Indexed /DeviceRGB " +
                                   QByteArray::number(found->palette.size() / 3 - 1) + " <" +
                                   found->palette.toHex() + ">]\n");
  head.replace(reference, "/Length " + QByteArray::number(packed.size()) + "\n");
  return head + stream.data() + packed + object.mid(data + *length);
}

/// The PDF with every lossless picture of at most 256 colours as one byte per pixel and a palette
/// (PDF 1.7, 8.6.6.3), where Qt writes three bytes: the same pixels in about half the bytes. `pdf`
/// is the output of QPdfWriter; pictures and files of another form are returned unchanged.
QByteArray with_palettes(const QByteArray& pdf) {
  const std::optional<ObjectTable> table = table_of(pdf);
  if (!table) return pdf;
  std::vector<std::pair<qsizetype, std::size_t>> order;  // offset and number
  for (std::size_t number = 0; number < table->offsets.size(); ++number) {
    if (table->offsets[number] > 0) order.emplace_back(table->offsets[number], number);
  }
  std::ranges::sort(order);
  if (order.empty() || order.back().first >= table->begin) return pdf;

  QByteArray written = pdf.left(order.front().first);
  std::vector<qsizetype> offsets(table->offsets.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const qsizetype end = i + 1 < order.size() ? order[i + 1].first : table->begin;
    offsets[order[i].second] = written.size();
    written += with_palette(pdf.mid(order[i].first, end - order[i].first), pdf, *table);
  }
  const qsizetype begin = written.size();
  written += "xref\n0 " + QByteArray::number(offsets.size()) + "\n";
  for (const qsizetype offset : offsets) {
    written += QByteArray::number(offset).rightJustified(10, '0') +
               (offset > 0 ? " 00000 n \n" : " 65535 f \n");
  }
  return written + table->trailer + "startxref\n" + QByteArray::number(begin) + "\n%%EOF\n";
}

/// A PDF text string: UTF-16, big endian, in hexadecimal.
QByteArray text_string(const QString& text) {
  QByteArray bytes = "<FEFF";
  for (const QChar c : text) {
    bytes += QByteArray::number(c.unicode(), 16).rightJustified(4, '0');
  }
  return bytes + ">";
}

/// The number after the last `key`, as in "/Size 20".
QByteArray last_number(const QByteArray& pdf, const char* key) {
  const qsizetype start = pdf.lastIndexOf(key);
  qsizetype end =
      start < 0 ? -1 : start + static_cast<qsizetype>(std::char_traits<char>::length(key));
  const qsizetype first = end;
  while (end >= 0 && end < pdf.size() && pdf[end] >= '0' && pdf[end] <= '9') ++end;
  if (end <= first) {
    throw Error(ErrorKind::io, "the structure of the PDF that Qt wrote is unknown").about(key);
  }
  return pdf.mid(first, end - first);
}

/// Overwrites the dates of creation and change (Qt 6.8) with blanks, to keep the offsets in the
/// file's table valid.
void blank_dates(QByteArray& pdf) {
  for (const char* const key : {"/CreationDate (", "/ModDate ("}) {
    const qsizetype start = pdf.indexOf(key);
    const qsizetype end = start < 0 ? -1 : pdf.indexOf(')', start);
    if (end > start) pdf.replace(start, end + 1 - start, QByteArray(end + 1 - start, ' '));
  }
}

/// The file with the figure's provenance in its document information: Title, Subject (the caption),
/// Keywords (the model files), Creator ("attnscope 0.1.0") and Command, which `pdfinfo -custom`
/// shows. The time of day is left out, for identical bytes of identical figures. `pdf` is the
/// output of QPdfWriter; the new information is appended as an incremental update (PDF 1.4, 3.4.5).
QByteArray with_provenance(QByteArray pdf, const Figure& figure) {
  static const std::map<std::string, const char*> names = {{"Title", "Title"},
                                                           {"Description", "Subject"},
                                                           {"Models", "Keywords"},
                                                           {"Software", "Creator"},
                                                           {"Command", "Command"}};
  blank_dates(pdf);
  const QByteArray objects = last_number(pdf, "/Size ");
  const QByteArray information = last_number(pdf, "/Info ");
  const QByteArray root = last_number(pdf, "/Root ");
  const QByteArray table = last_number(pdf, "startxref\n");

  const QByteArray place = QByteArray::number(pdf.size()).rightJustified(10, '0');
  pdf += information + " 0 obj\n<<\n";
  for (const auto& [name, text] : provenance_of(figure)) {
    pdf +=
        QByteArray("/") + names.at(name) + " " + text_string(QString::fromStdString(text)) + "\n";
  }
  pdf += "/Producer (Qt " QT_VERSION_STR ")\n>>\nendobj\n";
  const QByteArray own_table = QByteArray::number(pdf.size());
  pdf += "xref\n" + information + " 1\n" + place + " 00000 n \n";
  pdf += "trailer\n<<\n/Size " + objects + "\n/Info " + information + " 0 R\n/Root " + root +
         " 0 R\n/Prev " + table + "\n>>\nstartxref\n" + own_table + "\n%%EOF\n";
  return pdf;
}

/// Maximum number of runs of equal cells in all maps of a figure. Each run takes about 10 bytes of
/// a (compressed) PDF and 60 of an SVG; as pixels the same cells take less than 1 and 2.
constexpr std::int64_t most_areas = 20'000;

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
#if QT_VERSION >= QT_VERSION_CHECK(6, 8, 0)
    writer.setDocumentId(QUuid());  // otherwise random: identical figures have identical bytes
#endif
    writer.setResolution(static_cast<int>(units_per_mm * mm_per_inch));
    writer.setPageSize(QPageSize(QSizeF(figure.width_mm, figure.height_mm), QPageSize::Millimeter,
                                 QString(), QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    paint(figure, writer, units_per_mm, true, drawing_options(figure, options));
  }
  return with_provenance(with_palettes(buffer.data()), figure);
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

ThemeColours colours_of(FigureTheme theme) {
  if (theme == FigureTheme::dark) {
    return {QColor(30, 31, 34), QColor(223, 225, 229), QColor(160, 164, 171), QColor(92, 96, 102)};
  }
  return {Qt::white, QColor(26, 26, 26), QColor(64, 64, 64), QColor(150, 150, 150)};
}

QColor ink(const Colour& colour, FigureTheme theme) {
  const QColor paper(colour.red, colour.green, colour.blue, colour.alpha);
  if (theme == FigureTheme::light) return paper;
  constexpr float least_lightness = 0.62F;
  float hue = 0;
  float saturation = 0;
  float lightness = 0;
  float alpha = 0;
  paper.getHslF(&hue, &saturation, &lightness, &alpha);
  if (saturation < 0.05F) {
    return QColor::fromHslF(std::max(hue, 0.0F), saturation,
                            std::max(1 - lightness, least_lightness - 0.1F), alpha);
  }
  return QColor::fromHslF(hue, saturation, std::max(lightness, least_lightness), alpha);
}

std::string film_of(std::span<const QImage> frames, std::int64_t milliseconds) {
  const QSize size = frames.empty() ? QSize() : frames.front().size();
  const auto text = [](const QSize& extent) {
    return std::to_string(extent.width()) + " × " + std::to_string(extent.height());
  };
  std::vector<std::vector<std::uint32_t>> pictures;
  for (const QImage& frame : frames) {
    if (frame.size() != size) {
      throw Error(ErrorKind::usage, "the frames of a film must have the same size")
          .expected(text(size) + " pixels")
          .found(text(frame.size()));
    }
    const QImage plain = frame.convertToFormat(QImage::Format_RGB32);
    std::vector<std::uint32_t>& pixels = pictures.emplace_back();
    pixels.reserve(static_cast<std::size_t>(size.width()) *
                   static_cast<std::size_t>(size.height()));
    for (int row = 0; row < plain.height(); ++row) {
      const auto* const line = reinterpret_cast<const QRgb*>(plain.constScanLine(row));
      for (int column = 0; column < plain.width(); ++column) {
        pixels.push_back(line[column] & 0xFFFFFFU);
      }
    }
  }
  return animated_png_of(size.width(), size.height(), pictures, milliseconds);
}

}  // namespace attnscope
