// Printed cells of heat maps: pages are rendered, and their pixels are compared with the colours of
// the map's values.
#include <QImage>
#include <QPainter>
#include <QSvgRenderer>
#include <QXmlStreamReader>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include "analysis/figure/cells.h"
#include "analysis/figure/recipe.h"
#include "app/render/render.h"
#include "tests/app/cli/ran.h"
#include "tests/app/render/svg_transform.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// A figure with one map. Every fifth value is NaN, so that neighbours of a cell have other
/// colours, some far brighter and some far darker. Each row begins with a run of three equal cells.
Figure printed_figure(std::int64_t rows, std::int64_t columns) {
  HeatMap map;
  map.rows = rows;
  map.columns = columns;
  for (std::int64_t cell = 0; cell < rows * columns; ++cell) {
    const bool in_run = cell % columns < 3;
    const std::int64_t value = in_run ? cell / columns * 7 : cell * 3779;
    map.values.push_back(!in_run && cell % 5 == 0 ? std::nanf("")
                                                  : static_cast<float>(value % 97) / 96);
  }
  Panel panel;
  panel.square_cells = true;
  panel.reversed_y = true;
  panel.x.label = "key";
  panel.y.label = "query";
  panel.marks.emplace_back(map);
  Figure figure;
  figure.width_mm = 84;
  figure.height_mm = 70;
  figure.colour_scales.emplace_back();
  figure.panels = {panel};
  return figure;
}

struct PlacedImage {
  QImage image;
  QRectF frame_mm;
};

/// The only image of the figure's SVG and its position.
PlacedImage embedded_image(const Figure& figure, const fs::path& folder) {
  const fs::path file = folder / "frame.svg";
  export_figure(figure, file, {.heat_maps = HeatMapExport::pixels});
  QXmlStreamReader xml(QByteArray::fromStdString(read_bytes(file)));
  std::vector<QTransform> groups;
  while (!xml.atEnd()) {
    xml.readNext();
    if (xml.isEndElement() && xml.name() == u"g") groups.pop_back();
    if (!xml.isStartElement()) continue;
    const QXmlStreamAttributes attributes = xml.attributes();
    if (xml.name() == u"g") groups.push_back(transform_in(attributes));
    if (xml.name() != u"image") continue;
    EXPECT_EQ(attributes.value("style"), u"image-rendering:pixelated");
    EXPECT_EQ(attributes.value("image-rendering"), u"optimizeSpeed");
    EXPECT_EQ(attributes.value("preserveAspectRatio"), u"none");
    const QString data = attributes.value("http://www.w3.org/1999/xlink", "href").toString();
    EXPECT_TRUE(data.startsWith("data:image/png;base64,"));
    QTransform transform;
    for (const QTransform& group : groups) transform = group * transform;
    const auto number = [&](const char* name) { return attributes.value(name).toDouble(); };
    const QRectF units(number("x"), number("y"), number("width"), number("height"));
    const QRectF placed = transform.mapRect(units);
    return {QImage::fromData(QByteArray::fromBase64(data.section(',', 1).toLatin1())),
            {placed.x() / 100, placed.y() / 100, placed.width() / 100, placed.height() / 100}};
  }
  ADD_FAILURE() << "there is no image";
  return {};
}

Cells cells_in(const Figure& figure) {
  return cell_drawings(figure.panels.at(0), figure.colour_scales).at(0).cells;
}

QImage rendered(const fs::path& file, double dpi) {
  const QString name = QString::fromStdString(file.string());
  if (file.extension() == ".png") return QImage(name);
  if (file.extension() == ".pdf") {
    const Ran ran = run("pdftoppm -r " + std::to_string(dpi) + " -png -singlefile " +
                        file.string() + " " + file.string());
    EXPECT_EQ(ran.status, 0) << ran.output;
    return QImage(name + ".png");
  }
  QSvgRenderer renderer(name);
  QImage image((QSizeF(renderer.viewBoxF().size()) / 100 / 25.4 * dpi).toSize(),
               QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  renderer.render(&painter);
  return image;
}

/// Position of the frame's lines around a point of a PNG, whose layout is in whole pixels.
QRectF framed_in_pixels(const QImage& page, const QPoint& inside) {
  // The line has a grey that no cell has. Its edge may be blended with the next cell.
  const auto is_line = [&page](const QPoint& at) {
    const QColor found = page.pixelColor(at);
    return found.saturation() == 0 && found.value() < 0xe0;
  };
  const auto walk = [&](int across, int down) {
    QPoint at = inside;
    while (page.valid(at) && !is_line(at)) at += QPoint(across, down);
    return at;
  };
  const QPoint first(walk(-1, 0).x(), walk(0, -1).y()), last(walk(1, 0).x(), walk(0, 1).y());
  return QRect(first, last);
}

/// Expects every pixel inside the frame to have the colour of its cell or, within a pixel of an
/// edge, a colour between those of the adjacent cells. Cells then have the right size, and nothing
/// shines through between them.
void expect_cells(const QImage& page, const QRectF& frame, const Cells& cells) {
  const double cell_width = frame.width() / static_cast<double>(cells.columns);
  const double cell_height = frame.height() / static_cast<double>(cells.rows);
  ASSERT_GE(std::min(cell_width, cell_height), 5) << "too few pixels to tell";
  const auto place = [](double at, double size, std::int64_t count) {
    return std::clamp(static_cast<std::int64_t>(std::floor(at / size)), std::int64_t{0}, count - 1);
  };
  constexpr double line = 2;  // width of the frame's line in pixels
  std::int64_t wrong = 0, inside = 0;
  for (int y = static_cast<int>(frame.top() + line); y + 1 < frame.bottom() - line; ++y) {
    for (int x = static_cast<int>(frame.left() + line); x + 1 < frame.right() - line; ++x) {
      const double left = x - frame.left(), top = y - frame.top();
      std::int64_t first_column = place(left - 1, cell_width, cells.columns);
      std::int64_t last_column = place(left + 2, cell_width, cells.columns);
      std::int64_t first_row = place(top - 1, cell_height, cells.rows);
      std::int64_t last_row = place(top + 2, cell_height, cells.rows);
      const bool at_edge = first_column != last_column || first_row != last_row;
      if (at_edge) {
        // Near an edge the colours of cells extend a little further.
        const double under = 0.2;
        first_column = place(left - under * cell_width - 1, cell_width, cells.columns);
        first_row = place(top - under * cell_height - 1, cell_height, cells.rows);
      }
      const QColor found = page.pixelColor(x, y);
      bool fits = true;
      for (const int shift : {16, 8, 0}) {
        unsigned least = 255, most = 0;
        for (std::int64_t row = first_row; row <= last_row; ++row) {
          for (std::int64_t column = first_column; column <= last_column; ++column) {
            const unsigned channel = cells.at(row, column) >> shift & 255;
            least = std::min(least, channel);
            most = std::max(most, channel);
          }
        }
        const unsigned seen = found.rgb() >> shift & 255;
        // Renderers round blended colours.
        const unsigned rounding = at_edge ? 3 : 0;
        fits = fits && seen + rounding >= least && seen <= most + rounding;
      }
      wrong += fits ? 0 : 1;
      inside += at_edge ? 0 : 1;
      if (!fits && wrong <= 3) {
        ADD_FAILURE() << "pixel " << x << ", " << y << " near row " << first_row << ", column "
                      << first_column << " is " << found.name().toStdString() << ", the cell's is "
                      << std::hex << cells.at(first_row, first_column);
      }
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(inside, cells.rows * cells.columns) << "no cell was looked into";
}

struct PrintedAs {
  const char* extension;
  HeatMapExport heat_maps;
};

class PrintedCells : public testing::TestWithParam<PrintedAs> {
 protected:
  void expect_printed(std::int64_t rows, std::int64_t columns, double dpi) {
    const auto [extension, heat_maps] = GetParam();
    const Figure figure = printed_figure(rows, columns);
    const TemporaryFolder folder;
    const fs::path file = folder / ("map" + std::string(extension));
    export_figure(figure, file, {.png_dpi = dpi, .heat_maps = heat_maps});
    const QRectF mm = embedded_image(figure, folder.path()).frame_mm;
    const double scale = dpi / 25.4;
    QRectF frame(mm.x() * scale, mm.y() * scale, mm.width() * scale, mm.height() * scale);
    const QImage page = rendered(file, dpi);
    ASSERT_FALSE(page.isNull());
    if (file.extension() == ".png") frame = framed_in_pixels(page, frame.center().toPoint());
    expect_cells(page, frame, cells_in(figure));
  }
};

TEST_P(PrintedCells, HaveTheirSizeAndColours) {
  if (run("command -v pdftoppm").status != 0) GTEST_SKIP() << "poppler-utils is not installed";
  expect_printed(5, 7, 300);
  expect_printed(7, 5, 311);
  expect_printed(60, 53, 307);
  expect_printed(1, 9, 302);
}

/// The image is not rendered, because Qt's SVG reader smooths images regardless of their settings.
TEST(PrintedPixels, EqualTheCellsInAnSvg) {
  const Figure figure = printed_figure(60, 53);
  const TemporaryFolder folder;
  const QImage image = embedded_image(figure, folder.path()).image;
  const Cells cells = cells_in(figure);
  ASSERT_EQ(image.size(), QSize(53, 60));
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      ASSERT_EQ(image.pixel(x, y) & 0xffffffU, cells.at(y, x)) << x << ", " << y;
    }
  }
}

std::string print_name(const testing::TestParamInfo<PrintedAs>& of) {
  return std::string(of.param.extension + 1) +
         (of.param.heat_maps == HeatMapExport::pixels ? "_pixels" : "_cells");
}

INSTANTIATE_TEST_SUITE_P(Kinds, PrintedCells,
                         testing::Values(PrintedAs{".pdf", HeatMapExport::cells},
                                         PrintedAs{".pdf", HeatMapExport::pixels},
                                         PrintedAs{".svg", HeatMapExport::cells},
                                         PrintedAs{".png", HeatMapExport::automatic}),
                         print_name);

}  // namespace
}  // namespace attnscope
