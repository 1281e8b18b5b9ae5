#include <QApplication>
#include <QImage>
#include <QRegularExpression>
#include <QXmlStreamReader>
#include <array>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>

#include "analysis/figure/cells.h"
#include "analysis/figure/recipe.h"
#include "app/render/application.h"
#include "app/render/render.h"
#include "core/error.h"
#include "tests/app/cli/ran.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// Creates the QApplication that drawing needs.
class DrawingEnvironment : public testing::Environment {
 public:
  void SetUp() override { application_ = drawing_application(); }
  void TearDown() override { application_.reset(); }

 private:
  std::unique_ptr<QApplication> application_;
};
const auto* const environment = testing::AddGlobalTestEnvironment(new DrawingEnvironment);

MechanismChoice softmax() { return {"softmax", {}}; }
MechanismChoice adder() { return {"adder", {}}; }

FigureRequest exported_subjects() {
  FigureRequest request;
  request.subjects = {attention_subject("softmax", softmax()), attention_subject("adder", adder())};
  return request;
}

/// A file in a folder of this process, because tests run in parallel.
fs::path scratch(const std::string& name) {
  static const TemporaryFolder folder;
  return folder / name;
}

std::string output_of(const std::string& command) { return run(command).output; }

bool has_program(const std::string& name) { return run("command -v " + name).status == 0; }

fs::path exported(const std::string& figure, const std::string& extension,
                  const ExportOptions& options = {}) {
  const fs::path file = scratch(figure + extension);
  fs::remove(file);
  export_figure(make_figure(figure, exported_subjects()), file, options);
  return file;
}

TEST(SvgExport, IsValidForAnyLabel) {
  FigureRequest request;
  request.subjects = {attention_subject("a\x01\x1B[2J\u202E<b>&\uFFFE\xFF", softmax())};
  const fs::path file = scratch("hostile.svg");
  export_figure(make_figure("cumulative-spectrum", request), file, {});
  std::ifstream stream(file);
  const std::string svg{std::istreambuf_iterator<char>(stream), {}};
  QXmlStreamReader reader(QByteArray::fromStdString(svg));
  while (!reader.atEnd()) reader.readNext();
  EXPECT_FALSE(reader.hasError()) << reader.errorString().toStdString();
  EXPECT_EQ(svg.find("\u202E"), std::string::npos);
}

TEST(PdfExport, PageHasTheFiguresMillimetres) {
  if (!has_program("pdfinfo")) GTEST_SKIP() << "poppler-utils is not installed";
  const Figure figure = make_figure("cumulative-spectrum", exported_subjects());
  const fs::path file = exported("cumulative-spectrum", ".pdf");
  const QString info = QString::fromStdString(output_of("pdfinfo " + file.string()));
  const QRegularExpression size("Page size:\\s+([0-9.]+) x ([0-9.]+) pts");
  const auto match = size.match(info);
  ASSERT_TRUE(match.hasMatch()) << info.toStdString();
  EXPECT_NEAR(match.captured(1).toDouble(), 84 / 25.4 * 72, 0.5);
  EXPECT_NEAR(match.captured(2).toDouble(), figure.height_mm / 25.4 * 72, 0.5);
  EXPECT_TRUE(info.contains("Pages:           1"));
}

TEST(PdfExport, TextIsTextInAnEmbeddedFont) {
  if (!has_program("pdffonts")) GTEST_SKIP() << "poppler-utils is not installed";
  const fs::path file = exported("cumulative-spectrum", ".pdf");
  const std::string fonts = output_of("pdffonts " + file.string());
  EXPECT_NE(fonts.find("DejaVuSans"), std::string::npos) << fonts;
  // The columns are encoding, embedded, subset and unicode.
  EXPECT_EQ(fonts.find("Identity-H       no "), std::string::npos) << "not embedded:\n" << fonts;
  const std::string text = output_of("pdftotext -layout " + file.string() + " -");
  for (const char* expected : {"softmax", "adder + I", "number of singular values r", "r = "}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << " is not in\n" << text;
  }
}

TEST(PdfExport, NothingIsABitmapNotEvenHeatMaps) {
  if (!has_program("pdfimages")) GTEST_SKIP() << "poppler-utils is not installed";
  for (const char* figure :
       {"cumulative-spectrum", "rank-by-layer", "attention-maps", "attention-overlay"}) {
    const std::string images = output_of("pdfimages -list " + exported(figure, ".pdf").string());
    EXPECT_EQ(std::count(images.begin(), images.end(), '\n'), 2) << figure << ":\n" << images;
  }
}

/// Expects the images of the PDF to be the cells of the figure's maps, in the same order.
void expect_pictures_are_cells(const Figure& figure, const fs::path& pdf) {
  const TemporaryFolder folder;
  ASSERT_EQ(run("pdfimages -png " + pdf.string() + " " + (folder / "map").string()).status, 0);
  int index = 0;
  for (const Panel& panel : figure.panels) {
    for (const CellDrawing& drawing : cell_drawings(panel, figure.colour_scales)) {
      std::array<char, 24> name{};
      std::snprintf(name.data(), name.size(), "map-%03d.png", index++);
      const QImage image(QString::fromStdString((folder / name.data()).string()));
      const Cells& cells = drawing.cells;
      ASSERT_EQ(image.width(), cells.columns) << name.data();
      ASSERT_EQ(image.height(), cells.rows) << name.data();
      for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
          ASSERT_EQ(image.pixel(x, y) & 0xffffffU, cells.at(y, x))
              << name.data() << " at " << x << ", " << y;
        }
      }
    }
  }
  EXPECT_FALSE(fs::exists(folder / ("map-" + std::to_string(1000 + index).substr(1) + ".png")));
}

TEST(PdfExport, PixelsAreTheCellsExactly) {
  if (!has_program("pdfimages")) GTEST_SKIP() << "poppler-utils is not installed";
  const fs::path file = exported("attention-maps", ".pdf", {.heat_maps = HeatMapExport::pixels});
  expect_pictures_are_cells(make_figure("attention-maps", exported_subjects()), file);
}

TEST(PdfExport, MapsTooLargeForAreasArePixelsAndExact) {
  if (!has_program("pdfimages")) GTEST_SKIP() << "poppler-utils is not installed";
  Figure figure;
  figure.height_mm = 84;
  figure.colour_scales.emplace_back();
  HeatMap map;
  map.rows = map.columns = 1000;  // more areas than the limit for a PDF
  // Neighbours differ strongly, because adjacent cells of one colour would form one area.
  for (std::int64_t i = 0; i < 1'000'000; ++i) {
    map.values.push_back(static_cast<float>(i * 3779 % 9973) / 9973);
  }
  Panel panel;
  panel.square_cells = true;
  panel.marks.emplace_back(map);
  figure.panels = {panel};
  const fs::path file = scratch("large.pdf");
  export_figure(figure, file);
  expect_pictures_are_cells(figure, file);
}

/// Six rows of three maps of 197 × 197 noise, whose colours cannot be compressed.
Figure eighteen_noisy_maps() {
  constexpr std::int64_t side = 197;
  Figure figure;
  figure.height_mm = 168;
  figure.colour_scales.emplace_back();
  std::uint32_t state = 1;
  for (std::int64_t place = 0; place < 18; ++place) {
    HeatMap map;
    map.rows = map.columns = side;
    for (std::int64_t i = 0; i < side * side; ++i) {
      state = state * 1664525U + 1013904223U;
      map.values.push_back(static_cast<float>(state >> 8) / static_cast<float>(1U << 24));
    }
    Panel panel;
    panel.row = place / 3;
    panel.column = place % 3;
    panel.square_cells = true;
    panel.marks.emplace_back(std::move(map));
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

TEST(PdfExport, EighteenMapsTakeLessThanAMegabyteAndAreExact) {
  const Figure figure = eighteen_noisy_maps();
  const fs::path file = scratch("eighteen.pdf");
  export_figure(figure, file);
  EXPECT_LT(fs::file_size(file), 1'000'000U);
  if (!has_program("pdfimages")) GTEST_SKIP() << "poppler-utils is not installed";
  const std::string images = output_of("pdfimages -list " + file.string());
  const QRegularExpression indexed("197\\s+197\\s+index\\s+1\\s+8\\s+image\\s+no");
  EXPECT_EQ(QString::fromStdString(images).count(indexed), 18) << "one byte a cell, not smoothed:\n"
                                                               << images;
  expect_pictures_are_cells(figure, file);
  // Strict readers accept the tables of the file without a warning.
  EXPECT_EQ(output_of("pdftotext " + file.string() + " - 2>&1 >/dev/null"), "");
}

Figure with_provenance_of(const std::string& command) {
  Figure figure = make_figure("rank-by-layer", exported_subjects());
  figure.title = "Ränge (α) \\ 50 %";
  figure.command = command;
  figure.models = {"/models/a.h5", "b.pt"};
  return figure;
}

TEST(PdfExport, RecordsItsProvenance) {
  if (!has_program("pdfinfo")) GTEST_SKIP() << "poppler-utils is not installed";
  const std::string command = "attnscope figure rank-by-layer --model 'ä b.h5'";
  const Figure figure = with_provenance_of(command);
  const fs::path file = scratch("provenance.pdf");
  export_figure(figure, file);
  const std::string info = output_of("pdfinfo -enc UTF-8 " + file.string());
  EXPECT_NE(info.find("Ränge (α) \\ 50 %"), std::string::npos) << info;
  EXPECT_NE(info.find("Keywords:        /models/a.h5, b.pt"), std::string::npos) << info;
  EXPECT_NE(info.find("Creator:         attnscope " ATTNSCOPE_VERSION), std::string::npos) << info;
  EXPECT_NE(info.find("Subject:         " + figure.caption), std::string::npos) << info;
  EXPECT_EQ(info.find("CreationDate"), std::string::npos) << info;
  const std::string custom = output_of("pdfinfo -custom -enc UTF-8 " + file.string());
  EXPECT_NE(custom.find(command), std::string::npos) << custom;
  // Strict readers accept the tables of the file without a warning.
  EXPECT_EQ(output_of("pdftotext " + file.string() + " - 2>&1 >/dev/null"), "");
}

/// Number of elements by name, and the content of every <text>.
struct SvgContent {
  std::map<QString, int> elements;
  QStringList texts;
  QString width, height, view_box;
};

SvgContent read_svg(const fs::path& file) {
  SvgContent found;
  const std::string bytes = read_bytes(file);
  QXmlStreamReader xml(QByteArray::fromStdString(bytes));
  while (!xml.atEnd()) {
    if (xml.readNext() != QXmlStreamReader::StartElement) continue;
    const QString name = xml.name().toString();
    ++found.elements[name];
    if (name == "svg") {
      found.width = xml.attributes().value("width").toString();
      found.height = xml.attributes().value("height").toString();
      found.view_box = xml.attributes().value("viewBox").toString();
    }
    if (name == "text") found.texts << xml.readElementText(QXmlStreamReader::IncludeChildElements);
  }
  EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
  return found;
}

TEST(SvgExport, IsVectorsAndTextAtItsSize) {
  for (const char* figure : {"cumulative-spectrum", "attention-maps", "attention-overlay"}) {
    const SvgContent svg = read_svg(exported(figure, ".svg"));
    EXPECT_EQ(svg.elements.count("image"), 0U) << figure;
    EXPECT_GT(svg.elements.at("text"), 3) << figure;
    EXPECT_EQ(svg.width, "84mm");
    EXPECT_TRUE(svg.view_box.startsWith("0 0 8400 ")) << svg.view_box.toStdString();
  }
}

TEST(SvgExport, LabelsAreReadable) {
  const SvgContent svg = read_svg(exported("cumulative-spectrum", ".svg"));
  for (const char* expected : {"softmax", "softmax + I", "adder", "adder + I",
                               "number of singular values r", "cumulative share f(r) of ", "0.2"}) {
    EXPECT_TRUE(svg.texts.contains(expected))
        << expected << " is not among " << svg.texts.join(" | ").toStdString();
  }
}

TEST(PngExport, HasTheRequestedResolution) {
  for (const double dpi : {150.0, 600.0}) {
    const fs::path file = exported("rank-by-layer", ".png", {.png_dpi = dpi});
    const QImage image(QString::fromStdString(file.string()));
    EXPECT_NEAR(image.width(), 84 / 25.4 * dpi, 1);
    EXPECT_NEAR(image.dotsPerMeterX(), dpi / 0.0254, 1);
    EXPECT_EQ(image.pixelColor(0, 0), QColor(Qt::white));
  }
}

TEST(PngExport, RecordsItsProvenance) {
  const std::string command = "attnscope figure rank-by-layer --model 'ä b.h5'";
  const fs::path file = scratch("provenance.png");
  export_figure(with_provenance_of(command), file);
  const QImage image(QString::fromStdString(file.string()));
  EXPECT_EQ(image.text("Title").toStdString(), "Ränge (α) \\ 50 %");
  EXPECT_EQ(image.text("Command").toStdString(), command);
  EXPECT_EQ(image.text("Models").toStdString(), "/models/a.h5, b.pt");
  EXPECT_EQ(image.text("Software").toStdString(), "attnscope " ATTNSCOPE_VERSION);
}

TEST(PngExport, MayHaveNoBackground) {
  const fs::path file = exported("rank-by-layer", ".png", {.transparent = true});
  EXPECT_EQ(QImage(QString::fromStdString(file.string())).pixelColor(0, 0).alpha(), 0);
}

TEST(Export, IsTheSameTwice) {
  for (const char* extension : {".pdf", ".svg", ".png", ".csv", ".tex", ".json", ".h5", ".npz"}) {
    const std::string once = read_bytes(exported("attention-maps", extension));
    EXPECT_EQ(once, read_bytes(exported("attention-maps", extension))) << extension;
    EXPECT_FALSE(once.empty());
  }
}

TEST(Export, RefusesAnUnknownExtension) {
  const Error error = refusal_of([&] { export_figure(Figure{}, scratch("figure.gif")); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_NE(std::string(error.what()).find(".pdf, .svg"), std::string::npos);
}

TEST(Export, LeavesTheOldFileWhereItCannotWrite) {
  const fs::path folder = scratch("no-such-folder");
  EXPECT_THROW(export_figure(make_figure("rank-by-layer", exported_subjects()), folder / "f.pdf"),
               Error);
  EXPECT_FALSE(fs::exists(folder));

  // A figure that cannot be drawn must leave an existing file unchanged.
  const fs::path file = scratch("kept.pdf");
  std::ofstream(file) << "old";
  Figure broken;
  broken.panels.emplace_back();
  HeatMap map;
  map.rows = map.columns = 1;
  map.values = {0};
  map.colour_scale = 3;  // no such scale
  broken.panels.back().marks.emplace_back(map);
  EXPECT_ANY_THROW(export_figure(broken, file));
  EXPECT_EQ(read_bytes(file), "old");
}

}  // namespace
}  // namespace attnscope
