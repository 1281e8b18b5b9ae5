#include <cmath>
#include <gtest/gtest.h>
#include <variant>

#include "analysis/figure/recipe.h"
#include "analysis/heads/head_table.h"
#include "core/error.h"
#include "tests/support/attention_subjects.h"

namespace attnscope {
namespace {

FigureRequest softmax_and_adder() {
  FigureRequest request;
  request.subjects = {attention_subject("net-softmax", {"softmax", {}}),
                      attention_subject("net-adder", {"adder", {{"identity", true}}})};
  return request;
}

TEST(HeadsByLayer, CellsAreTheAnalysis) {
  FigureRequest request = softmax_and_adder();
  const Figure figure = make_figure("heads-by-layer", request);
  ASSERT_EQ(figure.panels.size(), 8U) << "four measures of two models";
  EXPECT_EQ(figure.colour_scales.size(), 4U);
  const HeadTable table = head_table(*request.subjects[1].trace);
  const auto& heat = std::get<HeatMap>(figure.panels.at(3).marks.at(0));  // the sink of the adder
  ASSERT_EQ(heat.values.size(), table.rows.size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    EXPECT_FLOAT_EQ(heat.values[i], static_cast<float>(table.rows[i].sink));
  }
  EXPECT_NE(figure.caption.find("without the I"), std::string::npos);
}

TEST(HeadsByLayer, LeavesOutUnknownValuesAndRefusesWhenNoneIsKnown) {
  FigureRequest request = softmax_and_adder();
  request.settings = {{"measures", std::vector<std::string>{"entropy", "value_norm"}}};
  const Figure figure = make_figure("heads-by-layer", request);
  EXPECT_EQ(figure.panels.size(), 2U);
  EXPECT_NE(figure.caption.find("Not known of these heads: norm of values"), std::string::npos);
  request.settings = {{"measures", std::vector<std::string>{"value_norm"}}};
  EXPECT_THROW((void)make_figure("heads-by-layer", request), Error);
}

TEST(HeadsOverDepth, HeadsAreInOrderInEachLayerAndTheMeanBetweenThem) {
  const Figure figure = make_figure("heads-over-depth", softmax_and_adder());
  ASSERT_EQ(figure.panels.size(), 4U);
  for (const Panel& panel : figure.panels) {
    ASSERT_EQ(panel.marks.size(), 6U) << "two heads and their mean of two models";
    for (std::size_t first : {0U, 3U}) {
      const auto& above = std::get<Line>(panel.marks[first]);
      const auto& below = std::get<Line>(panel.marks[first + 1]);
      const auto& mean = std::get<Line>(panel.marks[first + 2]);
      for (std::size_t layer = 0; layer < mean.y.size(); ++layer) {
        EXPECT_GE(above.y[layer], below.y[layer]);
        EXPECT_NEAR(mean.y[layer], (above.y[layer] + below.y[layer]) / 2, 1e-12);
      }
    }
  }
}

TEST(HeadFigures, DistancesInPixelsAndTokensShareNoAxis) {
  FigureRequest request = softmax_and_adder();
  auto text = std::make_shared<Trace>(*request.subjects[1].trace);
  text->layout = {};
  for (LayerTrace& layer : text->layers) layer.layout = layer.key_layout = {};
  request.subjects[1].trace = text;
  EXPECT_THROW((void)make_figure("heads-over-depth", request), Error);
  request.settings = {{"measures", std::vector<std::string>{"sink"}}};
  EXPECT_EQ(make_figure("heads-over-depth", request).panels.size(), 1U);
}

}  // namespace
}  // namespace attnscope
