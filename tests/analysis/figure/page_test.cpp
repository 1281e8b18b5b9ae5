#include "analysis/figure/page.h"

#include <gtest/gtest.h>

#include "analysis/figure/composite.h"
#include "analysis/figure/recipe.h"
#include "core/error.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

TEST(Page, ReadsRowsCellsAndTheirSettings) {
  const Page page = parse_page(
      " cumulative-spectrum[ identity=as-is; share=2;title=\"a; \\\"b\\\" ]\" ] | rank-by-layer\n"
      "/ attention-maps [layers=0,2-3; subjects=1,0]");
  ASSERT_EQ(page.rows.size(), 2U);
  ASSERT_EQ(page.rows[0].size(), 2U);
  const PageCell& first = page.rows[0][0];
  EXPECT_EQ(first.figure, "cumulative-spectrum");
  EXPECT_EQ(first.settings, (ParameterValues{{"identity", "as-is"}}));
  EXPECT_EQ(first.share, 2);
  EXPECT_EQ(first.title, "a; \"b\" ]");
  EXPECT_EQ(page.rows[0][1].figure, "rank-by-layer");
  const PageCell& last = page.rows[1][0];
  EXPECT_EQ(last.settings.at("layers"), ParameterValue(IndexRanges{{0, 0}, {2, 3}}));
  EXPECT_EQ(last.subjects, (std::vector<std::size_t>{1, 0}));
}

TEST(Page, WritesTextThatReadsAsTheSamePage) {
  Page page;
  page.rows = {{{.figure = "energy-share",
                 .settings = {{"networks", std::vector<std::string>{"pvtv2-b0", "pvtv2-b1"}}}},
                {.figure = "rank-by-layer", .subjects = {0, 2}, .share = 1.5, .title = " \"]\\ "}},
               {{.figure = "attention-maps"}}};
  EXPECT_EQ(parse_page(to_string(page)), page);
}

TEST(Page, NamesTheLineOfAnError) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "name of a figure"},
      {"rank-by-layer |", "name of a figure"},
      {"rank-by-layer / / rank-by-layer", "name of a figure"},
      {"pie", "unknown figure 'pie'"},
      {"rank-by-layer[colour=red]", "setting of rank-by-layer"},
      {"rank-by-layer[measure]", "key=value"},
      {"rank-by-layer[measure=stable", "closing ]"},
      {"rank-by-layer[title=\"a]", "closing quote"},
      {"rank-by-layer[title=\"a\" b]", "; or ]"},
      {"rank-by-layer[share=0]", "share above 0"},
      {"rank-by-layer[subjects=x]", "indices of the models"},
      {"rank-by-layer] | rank-by-layer", "unknown figure"},
      {"rank-by-layer[] rank-by-layer", "| before the next"},
  };
  for (const auto& [text, expected] : wrong) {
    const Error error =
        refusal_of([&text = text] { (void)parse_page(text); }, testing::Message() << text);
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos)
        << text << ": " << error.what();
  }
}

class CompositeTest : public testing::Test {
 protected:
  CompositeTest() {
    request_.subjects = {attention_subject("softmax", {"softmax", {}}),
                         attention_subject("adder", {"adder", {}})};
    request_.width_mm = 174;
  }

  Figure page(const std::string& text, bool shared = false) {
    request_.settings = {{"page", text}, {"shared-colours", shared}};
    return make_figure("composite", request_);
  }

  FigureRequest request_;
};

TEST_F(CompositeTest, CellsFillTheWidthAndDoNotOverlap) {
  const Figure figure =
      page("cumulative-spectrum[share=2] | rank-by-layer / attention-maps[layers=0]");
  ASSERT_EQ(figure.areas.size(), 3U);
  EXPECT_EQ(figure.areas[0].x_mm, 0);
  EXPECT_NEAR(figure.areas[1].x_mm + figure.areas[1].width_mm, 174, 1e-9);
  EXPECT_NEAR(figure.areas[0].width_mm, 2 * figure.areas[1].width_mm, 1e-9);
  EXPECT_GT(figure.areas[1].x_mm, figure.areas[0].width_mm);
  EXPECT_GT(figure.areas[2].y_mm, figure.areas[0].height_mm);
  EXPECT_NEAR(figure.areas[2].y_mm + figure.areas[2].height_mm, figure.height_mm, 1e-9);
  EXPECT_EQ(figure.panels.front().letter, "a");
  EXPECT_NE(figure.caption.find("(c) "), std::string::npos);
  EXPECT_EQ(figure.caption.find("Made with"), figure.caption.rfind("Made with"));
}

TEST_F(CompositeTest, HasTheNumbersOfItsFigures) {
  const Figure figure = page("rank-by-layer | cumulative-spectrum[subjects=1]");
  FigureRequest alone = request_;
  alone.settings = {};
  alone.subjects.erase(alone.subjects.begin());
  const Figure spectrum = make_figure("cumulative-spectrum", alone);
  ASSERT_FALSE(spectrum.numbers.empty());
  for (const auto& [name, values] : spectrum.numbers) {
    ASSERT_TRUE(figure.numbers.contains("b/" + name)) << name;
    EXPECT_EQ(figure.numbers.at("b/" + name), values);
  }
}

TEST_F(CompositeTest, SharesOneColourScaleWhereAsked) {
  const std::string text =
      "attention-maps[subjects=0; layers=0; range=full] | "
      "attention-maps[subjects=1; layers=0; range=full]";
  const Figure apart = page(text);
  ASSERT_EQ(apart.colour_scales.size(), 2U);
  const Figure shared = page(text, true);
  ASSERT_EQ(shared.colour_scales.size(), 1U);
  EXPECT_EQ(shared.colour_scales[0].maximum,
            std::max(apart.colour_scales[0].maximum, apart.colour_scales[1].maximum));
  ASSERT_TRUE(shared.colour_scales[0].bar_area);
  EXPECT_EQ(*shared.colour_scales[0].bar_area, 2U);
  for (const Panel& panel : shared.panels) {
    EXPECT_EQ(std::get<HeatMap>(panel.marks.front()).colour_scale, 0U);
  }
}

TEST_F(CompositeTest, HasOneLegendWhereAsked) {
  const Page cells = parse_page("rank-by-layer | heads-over-depth");
  const auto make = [&](const PageCell& cell, double width_mm) {
    return make_figure(cell.figure, cell_request(request_, cell, width_mm));
  };
  const Figure shared = compose(cells, {.shared_legend = true}, make);
  EXPECT_TRUE(shared.shared_legend);
  EXPECT_GT(shared.height_mm, shared.areas.back().y_mm + shared.areas.back().height_mm);
  // Panels that share a legend in their figure keep one on a page without a common one.
  const Figure apart = compose(cells, {}, make);
  EXPECT_FALSE(apart.shared_legend);
  std::size_t legends = 0;
  for (const Panel& panel : apart.panels) {
    if (panel.area == 1 && panel.legend != LegendPosition::none) ++legends;
  }
  EXPECT_EQ(legends, 1U);
}

TEST_F(CompositeTest, RefusesImpossiblePages) {
  EXPECT_THROW((void)page("composite"), Error);
  EXPECT_THROW((void)page("rank-by-layer[subjects=2]"), Error);
  request_.width_mm = 60;
  EXPECT_THROW((void)page("rank-by-layer | rank-by-layer | rank-by-layer"), Error);
}

}  // namespace
}  // namespace attnscope
