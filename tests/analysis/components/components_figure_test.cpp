#include <gtest/gtest.h>
#include <memory>
#include <variant>

#include "analysis/components/components.h"
#include "analysis/figure/recipe.h"
#include "core/error.h"
#include "tests/support/attention_subjects.h"

namespace attnscope {
namespace {

TEST(ComponentsFigure, PicturesAreTheVectorsOnTheGrid) {
  FigureRequest request;
  request.subjects = {attention_subject("net-softmax", {"softmax", {}})};
  request.settings = {{"layer", std::int64_t{1}}, {"count", std::int64_t{3}}};
  const Figure figure = make_figure("components", request);
  ASSERT_EQ(figure.panels.size(), 6U) << "three of keys and three of queries";
  const MapComponents found = map_components(request.subjects[0], {1, 0}, {}, 3);
  const auto& keys = std::get<HeatMap>(figure.panels[1].marks.at(0));
  const auto& queries = std::get<HeatMap>(figure.panels[4].marks.at(0));
  ASSERT_EQ(keys.values.size(), 49U);
  for (std::size_t cell = 0; cell < 49; ++cell) {
    EXPECT_FLOAT_EQ(keys.values[cell], static_cast<float>(found.components[1].keys[cell + 1]));
    EXPECT_FLOAT_EQ(queries.values[cell],
                    static_cast<float>(found.components[1].queries[cell + 1]));
  }
  EXPECT_EQ(figure.numbers.at("share/net-softmax").at(0), found.share(0));
  EXPECT_NE(figure.caption.find("class"), std::string::npos);
  const ColourScale& scale = figure.colour_scales.at(0);
  EXPECT_EQ(scale.minimum, -scale.maximum);
}

TEST(ComponentsFigure, DrawsStripsOverTheTokensOfAText) {
  FigureRequest request;
  request.subjects = {attention_subject("net-softmax", {"softmax", {}})};
  auto text = std::make_shared<Trace>(*request.subjects[0].trace);
  text->layout = {};
  text->layout.texts.assign(50, "ba");
  for (LayerTrace& layer : text->layers) layer.layout = layer.key_layout = text->layout;
  text->layers[2].implied_map.slice(1).setZero();
  request.subjects[0].trace = text;
  request.settings = {{"show", "keys"}};
  const Figure figure = make_figure("components", request);
  ASSERT_EQ(figure.panels.size(), 1U);
  const auto& heat = std::get<HeatMap>(figure.panels[0].marks.at(0));
  EXPECT_EQ(heat.rows, 4);
  EXPECT_EQ(heat.columns, 50);
  request.settings = {{"layer", std::int64_t{2}}, {"head", std::int64_t{1}}};
  EXPECT_THROW((void)make_figure("components", request), Error) << "all zero";
  request.settings = {{"layer", std::int64_t{3}}};
  EXPECT_THROW((void)make_figure("components", request), Error);
}

}  // namespace
}  // namespace attnscope
