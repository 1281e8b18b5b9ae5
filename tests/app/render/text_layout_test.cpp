// Readability on paper: at the width of a column and of a page no text of any figure overlaps
// another, leaves the page or is smaller than 6 pt.
#include <QFontMetricsF>
#include <QTransform>
#include <QXmlStreamReader>
#include <gtest/gtest.h>

#include "analysis/figure/recipe.h"
#include "analysis/figure/style.h"
#include "app/render/render.h"
#include "tests/app/render/svg_transform.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/sample_figures.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

struct Text {
  QString words;
  QRectF box;  ///< letters without descenders, in mm
  double size_pt = 0;
};

/// Every text of the figure's SVG, whose unit is a hundredth of a millimetre.
std::vector<Text> texts_of(const Figure& figure) {
  const TemporaryFolder folder;
  export_figure(figure, folder / "figure.svg");
  const std::string svg = read_bytes(folder / "figure.svg");
  QXmlStreamReader xml(QByteArray::fromStdString(svg));
  std::vector<QXmlStreamAttributes> groups;
  std::vector<Text> texts;
  const auto said = [&](const QXmlStreamAttributes& own, const QString& name) {
    if (own.hasAttribute(name)) return own.value(name).toString();
    for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
      if (group->hasAttribute(name)) return group->value(name).toString();
    }
    return QString();
  };
  while (!xml.atEnd()) {
    if (xml.readNext() == QXmlStreamReader::EndElement && xml.name() == u"g") groups.pop_back();
    if (!xml.isStartElement()) continue;
    if (xml.name() == u"g") groups.push_back(xml.attributes());
    if (xml.name() != u"text") continue;
    const QXmlStreamAttributes own = xml.attributes();
    QTransform transform;
    for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
      transform = transform * transform_in(*group);
    }
    QFont font(said(own, "font-family"));
    const double pixels = said(own, "font-size").remove("px").toDouble();
    font.setPixelSize(std::max(1, static_cast<int>(std::lround(pixels))));
    const QString words = xml.readElementText(QXmlStreamReader::IncludeChildElements);
    if (words.trimmed().isEmpty()) continue;
    constexpr double cap_height = 0.72;
    const QRectF box(own.value("x").toDouble(), own.value("y").toDouble() - cap_height * pixels,
                     QFontMetricsF(font).horizontalAdvance(words), cap_height * pixels);
    const QRectF placed = transform.mapRect(box);
    const double scale = std::sqrt(std::abs(transform.determinant()));
    texts.push_back(
        {words,
         {placed.x() / 100, placed.y() / 100, placed.width() / 100, placed.height() / 100},
         pixels * scale / 100 / 25.4 * 72});
  }
  return texts;
}

void expect_readable(const Figure& figure) {
  constexpr double touch_mm = 0.2, least_pt = 5.9;
  const QRectF page(-touch_mm, -touch_mm, figure.width_mm + 2 * touch_mm,
                    figure.height_mm + 2 * touch_mm);
  const std::vector<Text> texts = texts_of(figure);
  EXPECT_FALSE(texts.empty());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Text& one = texts[i];
    const std::string words = one.words.toStdString();
    EXPECT_TRUE(page.contains(one.box)) << words << " leaves the page";
    const bool exponent = words.find_first_not_of("0123456789-−") == std::string::npos;
    EXPECT_TRUE(exponent || one.size_pt >= least_pt) << words << " in " << one.size_pt << " pt";
    for (std::size_t j = 0; j < i; ++j) {
      const QRectF both = one.box.intersected(texts[j].box);
      EXPECT_FALSE(both.width() > touch_mm && both.height() > touch_mm)
          << words << " over " << texts[j].words.toStdString();
    }
  }
}

struct Case {
  std::string recipe;
  ParameterValues settings = {};
  std::string name = {};  ///< name of the case if the recipe's name is not unique
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.recipe << " " << one.name; }

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const FigureRecipe& recipe : figure_recipes()) list.push_back({std::string(recipe.name)});
  list.push_back(
      {"key-maps", {{"channels", "all"}, {"layers", IndexRanges{{0, 0}}}}, "all_channels"});
  list.push_back({"key-maps", {{"image", true}}, "beside_the_image"});
  list.push_back({"hash-codes", {{"show", "all"}}, "all_rows"});
  list.push_back({"comparison",
                  {{"layers", IndexRanges{{0, 1}}}, {"heads", IndexRanges{{0, 1}}}},
                  "several_places"});
  const std::vector<std::string> networks = {"deit-tiny", "deit-small", "pvtv2-b0 native=false"};
  const std::vector<std::string> mechanisms = {"own", "adder", "hash bits=8"};
  for (const char* recipe : {"energy-breakdown", "energy-share", "operations-table"}) {
    list.push_back({recipe, {{"networks", networks}, {"mechanisms", mechanisms}}, "nine"});
  }
  return list;
}

class Readable : public testing::TestWithParam<Case> {};

TEST_P(Readable, EveryFigureAtEveryWidth) {
  for (const double width_mm : {84.0, 174.0}) {
    SCOPED_TRACE(std::to_string(width_mm) + " mm");
    expect_readable(sample_figure(GetParam().recipe, GetParam().settings, width_mm));
  }
}

/// A model with the name of a timm checkpoint, and the same model with another mechanism.
FigureRequest with_long_names(double width_mm) {
  const std::string name = "vit_tiny_patch16_224.augreg_in21k_ft_in1k";
  FigureRequest request;
  request.subjects = {
      attention_subject(name, {"softmax", {}}),
      attention_subject(name + " as adder (identity=false)", {"adder", {{"identity", false}}})};
  request.width_mm = width_mm;
  return request;
}

TEST(LongNames, DoNotOverlap) {
  for (const double width_mm : {84.0, 174.0}) {
    for (const char* recipe : {"attention-maps", "attention-overlay", "rank-by-layer",
                               "cumulative-spectrum", "heads-over-depth"}) {
      SCOPED_TRACE(std::string(recipe) + " at " + std::to_string(width_mm) + " mm");
      FigureRequest request = with_long_names(width_mm);
      if (recipe == std::string("attention-maps")) request.settings["heads"] = std::string("all");
      expect_readable(make_figure(recipe, request));
    }
  }
}

TEST(LongNames, DoNotOverlapOnAPage) {
  FigureRequest request = with_long_names(174);
  request.settings["page"] = std::string(
      "cumulative-spectrum | attention-overlay / rank-by-layer | heads-over-depth / "
      "attention-maps[heads=0,1]");
  const Figure page = make_figure("composite", request);
  expect_readable(page);
  expect_readable(dressed(page, {.shared_legend = true}));
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.recipe;
  if (!info.param.name.empty()) name += "_" + info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Figures, Readable, testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace attnscope
