// TeX of every figure, compiled: the page has the requested size, nothing is clipped and no words
// overlap.
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>

#include "analysis/figure/cells.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/style.h"
#include "analysis/figure/text_export.h"
#include "core/input/image.h"
#include "tests/support/sample_figures.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  std::string word;

  [[nodiscard]] double area() const { return std::max(0.0, right - left) * (bottom - top); }
};

double common_area(const Box& a, const Box& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

/// A figure's TeX and what pdfTeX makes of it.
class Compiled {
 public:
  explicit Compiled(const Figure& figure) {
    const TexFigure tex = figure_as_tex(figure, "figure");
    write(folder_ / "figure.tex", tex.source);
    for (const TexFigure::File& image : tex.images) write(folder_ / image.name, image.bytes);
    // The document needs only the files of its folder: no network and no parent folders.
    status_ = run("pdflatex -halt-on-error -interaction=nonstopmode figure.tex >figure.out 2>&1");
  }

  [[nodiscard]] bool succeeded() const { return status_ == 0; }

  [[nodiscard]] std::string log() const { return read("figure.out"); }

  /// Width and height of the page in mm, and the number of pages.
  [[nodiscard]] std::array<double, 3> page() const {
    (void)run("pdfinfo figure.pdf >info.txt");
    const std::string info = read("info.txt");
    std::smatch found;
    std::array<double, 3> page{};
    if (std::regex_search(info, found, std::regex("Page size: *([0-9.]+) x ([0-9.]+) pts"))) {
      page[0] = std::stod(found[1]) / 72 * 25.4;
      page[1] = std::stod(found[2]) / 72 * 25.4;
    }
    if (std::regex_search(info, found, std::regex("Pages: *([0-9]+)")))
      page[2] = std::stod(found[1]);
    return page;
  }

  /// Number of pixels along the edges of the page that are not white.
  [[nodiscard]] int marks_on_the_edge() const {
    (void)run("pdftoppm -r 150 -png -singlefile figure.pdf page");
    const std::string file = read("page.png");
    const Image image = decode_png(std::as_bytes(std::span(file)));
    int marks = 0;
    const auto look = [&](std::int64_t x, std::int64_t y) {
      const std::int64_t first = (y * image.width + x) * image.channels;
      for (std::int64_t c = 0; c < image.channels; ++c) {
        if (image.pixels[static_cast<std::size_t>(first + c)] < 200) {
          ++marks;
          return;
        }
      }
    };
    for (std::int64_t x = 0; x < image.width; ++x) look(x, 0), look(x, image.height - 1);
    for (std::int64_t y = 0; y < image.height; ++y) look(0, y), look(image.width - 1, y);
    return marks;
  }

  /// Pairs of words that overlap: "r = 5 on τ".
  [[nodiscard]] std::vector<std::string> overprinted() const {
    (void)run("pdftotext -bbox figure.pdf words.html");
    const std::string html = read("words.html");
    const std::regex word(
        "xMin=\"([-0-9.]+)\" yMin=\"([-0-9.]+)\" xMax=\"([-0-9.]+)\" yMax=\"([-0-9.]+)\">([^<]*)<");
    std::vector<Box> boxes;
    for (std::sregex_iterator match(html.begin(), html.end(), word), end; match != end; ++match) {
      Box box{std::stod((*match)[1]), std::stod((*match)[2]), std::stod((*match)[3]),
              std::stod((*match)[4]), (*match)[5]};
      boxes.push_back(box);
    }
    std::vector<std::string> pairs;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      for (std::size_t k = i + 1; k < boxes.size(); ++k) {
        // Boxes are as high as the font, but letters are not: words overlap from a third of the
        // smaller box on.
        const double smaller = std::min(boxes[i].area(), boxes[k].area());
        if (smaller > 0 && common_area(boxes[i], boxes[k]) > 0.34 * smaller) {
          pairs.push_back(boxes[i].word + " on " + boxes[k].word);
        }
      }
    }
    return pairs;
  }

 private:
  [[nodiscard]] int run(const std::string& command) const {
    return std::system(("cd " + folder_.path().string() + " && " + command).c_str());
  }

  [[nodiscard]] std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

  TemporaryFolder folder_;
  int status_ = 0;
};

void expect_sound(const Figure& figure, const std::string& name) {
  ASSERT_EQ(std::system("kpsewhich pgfplots.sty geometry.sty >/dev/null && command -v pdflatex "
                        "pdfinfo pdftoppm pdftotext >/dev/null"),
            0)
      << "install what the tests need: scripts/install-packages test";
  const Compiled compiled(figure);
  ASSERT_TRUE(compiled.succeeded()) << name << "\n" << compiled.log();
  const auto [width_mm, height_mm, pages] = compiled.page();
  EXPECT_NEAR(width_mm, figure.width_mm, 0.1) << name;
  EXPECT_NEAR(height_mm, figure.height_mm, 0.1) << name;
  EXPECT_EQ(pages, 1) << name;
  EXPECT_EQ(compiled.marks_on_the_edge(), 0) << name;
  EXPECT_EQ(compiled.overprinted(), std::vector<std::string>()) << name;
}

class TexOfFigure : public testing::TestWithParam<std::string> {};

TEST_P(TexOfFigure, CompilesToAPageOfTheRequestedSize) {
  expect_sound(sample_figure(GetParam()), GetParam());
}

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const FigureRecipe& recipe : figure_recipes()) names.emplace_back(recipe.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Recipes, TexOfFigure, testing::ValuesIn(figure_names()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(TexExport, AWidePageOfSeveralFiguresCompiles) {
  const Figure page = sample_figure(
      "composite",
      {{"page",
        "attention-maps[subjects=0; layers=0] | attention-maps[subjects=1; layers=0; title=Adder] "
        "/ cumulative-spectrum[share=2] | rank-by-layer"},
       {"shared-colours", true}},
      174);
  expect_sound(dressed(page, {.shared_legend = true}), "page");
}

TEST(TexExport, AMapOfOneRowCompiles) {
  Figure figure;
  figure.colour_scales.emplace_back();
  Panel row, column;
  row.x.visible = row.y.visible = column.x.visible = column.y.visible = false;
  row.marks.emplace_back(HeatMap{1, 3, {0, 0.5F, 1}, 0, 1});
  column.row = 1;
  column.marks.emplace_back(HeatMap{3, 1, {0, 0.5F, 1}, 0, 1});
  figure.panels = {row, column};
  expect_sound(figure, "one row, one column");
}

TEST(TexExport, AnyTextCompiles) {
  Figure figure = sample_figure("rank-by-layer");
  Panel& panel = figure.panels.front();
  panel.title = "50 % of #1_x & {y} ~ ^ \\ $ \"<|>\" é Ł α→ω ∞ 中文 😀 \x01";
  panel.x.label = "a, b = c] [d";
  panel.y.label = "two\n[lines]";
  expect_sound(figure, "texts");
}

TEST(TexExport, PicturesAreTheCellsExactly) {
  Figure figure;
  figure.colour_scales.emplace_back();
  HeatMap map;
  map.rows = map.columns = 60;  // more cells than are plotted one by one
  for (int i = 0; i < 3600; ++i) map.values.push_back(static_cast<float>(i % 997) / 997);
  Panel panel;
  panel.square_cells = panel.reversed_y = true;
  panel.x.visible = panel.y.visible = false;
  panel.marks.emplace_back(map);
  figure.panels = {panel};
  const TexFigure tex = figure_as_tex(figure, "Fig 3 %");
  ASSERT_EQ(tex.images.size(), 1U);
  EXPECT_EQ(tex.images[0].name, "Fig-3---01.png");
  EXPECT_NE(tex.source.find("]{Fig-3---01.png}"), std::string::npos);
  const Image image = decode_png(std::as_bytes(std::span(tex.images[0].bytes)));
  ASSERT_EQ(image.width, 60);
  const std::vector<CellDrawing> drawings = cell_drawings(panel, figure.colour_scales);
  for (std::size_t i = 0; i < 3600; ++i) {
    const auto found = static_cast<std::uint32_t>(
        image.pixels[3 * i] << 16 | image.pixels[3 * i + 1] << 8 | image.pixels[3 * i + 2]);
    ASSERT_EQ(found, drawings[0].cells.colours[i]) << i;
  }
}

}  // namespace
}  // namespace attnscope
