// The experts that tokens pass through: loads and balance by hand, tables, and the figure's strips.
#include "analysis/experts/token_experts.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analysis/figure/recipe.h"
#include "analysis/tables/expert_report.h"
#include "core/error.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A text of four tokens, whose layer 1 has three experts, two for each token.
Trace four_tokens() {
  Trace trace;
  trace.layout.texts = {"To", " be", ",", " or"};
  trace.layers.resize(2);
  NamedTensors& quantities = trace.layers[1].quantities;
  quantities["experts"] = Tensor({4, 2}, {2, 0, 2, 1, 0, 2, 2, 0});
  quantities["expert_weights"] = Tensor({4, 2}, {0.75F, 0.25F, 0.5F, 0.5F, 1, 0, 0.625F, 0.375F});
  quantities["expert_loads"] = Tensor({3}, {3, 1, 4});
  return trace;
}

TEST(TokenExperts, HaveLoadsAndTheirBalance) {
  const std::vector<LayerExperts> layers = layer_experts(four_tokens());
  ASSERT_EQ(layers.size(), 1U);
  const LayerExperts& layer = layers.front();
  EXPECT_EQ(layer.layer, 1);
  EXPECT_EQ(layer.active(), 2);
  EXPECT_THAT(layer.loads, ElementsAre(3, 1, 4));
  EXPECT_EQ(layer.used(), 3);
  EXPECT_EQ(layer.busiest(), 2);
  const double entropy =
      -(3 * std::log(3.0 / 8) + 1 * std::log(1.0 / 8) + 4 * std::log(4.0 / 8)) / 8;
  EXPECT_NEAR(layer.balance(), entropy / std::log(3.0), 1e-12);
  EXPECT_EQ(layer.tokens[1][1].expert, 1);
  EXPECT_EQ(layer.tokens[3][1].weight, 0.375);
}

TEST(TokenExperts, AreRefusedWhereNoneOrDamagedOnesAreRecorded) {
  Trace trace = four_tokens();
  EXPECT_THAT(error_of([&] { return layer_experts(trace, {0}); }),
              HasSubstr("no experts were recorded"));
  trace.layers[1].quantities["experts"] = Tensor({4, 2}, {2, 0, 2, 1, 0, 3, 2, 0});
  EXPECT_THAT(error_of([&] { return layer_experts(trace); }), HasSubstr("do not fit together"));
  trace.layers[1].quantities["experts"] = Tensor({4, 1}, {2, 0, 2, 1});
  EXPECT_THAT(error_of([&] { return layer_experts(trace); }), HasSubstr("do not fit together"));
}

TEST(TokenExperts, TablesHaveARowForEachTokenAndLayer) {
  const Trace trace = four_tokens();
  const std::vector<LayerExperts> layers = layer_experts(trace);
  const nlohmann::ordered_json tokens = report_as_json(token_experts_report(trace, layers));
  ASSERT_EQ(tokens.size(), 4U);
  EXPECT_EQ(tokens[1].dump(),
            R"({"layer":1,"token":1,"text":"␣be","chosen":[{"expert":2,"weight":0.5},)"
            R"({"expert":1,"weight":0.5}]})");
  EXPECT_THAT(report_as_text(token_experts_report(trace, layers)),
              HasSubstr("2 (0.750), 0 (0.250)"));
  const std::string csv = report_as_csv(token_experts_report(trace, layers));
  EXPECT_THAT(csv, HasSubstr("layer,token,text,expert,weight"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 9);
  const nlohmann::ordered_json loads = report_as_json(expert_layers_report(trace, layers));
  EXPECT_EQ(loads[0]["loads"].dump(), "[3,1,4]");
  EXPECT_EQ(loads[0]["busiest_tokens"], 4);
  EXPECT_EQ(experts_in_words(layers), "4 tokens, each with 2 experts in 1 layer\n");
}

TEST(TokenExperts, FigureHasAStripForEachLayerWithTheTokensExperts) {
  const TemporaryFolder folder;
  FigureRequest request;
  request.subjects = {
      family_subject(folder.path(), "hugging_face_qwen3_moe", {3, 1, 4, 1, 5, 9, 2, 6})};
  const Figure figure = make_figure("token-experts", request);
  EXPECT_EQ(figure.panels.front().y.ticks.size(), 3U);  // first, middle and last layer
  const std::vector<LayerExperts> layers = layer_experts(*request.subjects.front().trace);
  ASSERT_EQ(layers.size(), 4U);
  const std::vector<double>& shown = figure.numbers.at("expert/layer 3");
  ASSERT_EQ(shown.size(), 8U);
  for (std::size_t token = 0; token < shown.size(); ++token) {
    EXPECT_EQ(shown[token], static_cast<double>(layers[3].tokens[token][0].expert));
  }
  request.settings["place"] = std::int64_t{4};
  EXPECT_THAT(error_of([&] { return make_figure("token-experts", request); }), HasSubstr("1 to 3"));
}

}  // namespace
}  // namespace attnscope
