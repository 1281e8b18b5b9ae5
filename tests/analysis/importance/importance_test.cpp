// α of every prefix, from the recording of one run, compared with the maps of PyTorch
// (tests/data/language/make_reference.py).
#include "analysis/importance/importance.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "analysis/figure/recipe.h"
#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/model/model.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

struct ReferenceRun {
  std::shared_ptr<const Trace> trace;
  Tensor maps, key_maps;  ///< [L, H, N, N]
};

ReferenceRun reference_run(const std::string& name) {
  const auto model = load_model(test_data("language/" + name + "/model.safetensors"));
  const Checkpoint expected = open_checkpoint(test_data("language/" + name + "/expected.npz"));
  Input input;
  input.content = Text{{}, expected.at("ids").view().to_int64()};
  ReferenceRun run{
      std::make_shared<const Trace>(model->run(input, model->spec().mechanism, {}, {})),
      expected.at("maps").view().to_float(),
      {}};
  if (expected.find("key_maps")) run.key_maps = expected.at("key_maps").view().to_float();
  return run;
}

float cell(const Tensor& maps, std::int64_t layer, std::int64_t head, std::int64_t query,
           std::int64_t key) {
  const std::int64_t n = maps.extent(3);
  return maps.data()[((layer * maps.extent(1) + head) * n + query) * n + key];
}

void expect_rows(const ReferenceRun& run, const Tensor& maps, ImportanceOf attention) {
  const std::int64_t n = maps.extent(3);
  for (std::int64_t layer = 0; layer < 3; ++layer) {
    for (std::int64_t head = 0; head < 2; ++head) {
      for (std::int64_t end = 0; end < n; ++end) {
        const TokenImportance found = token_importance(*run.trace, layer, head, attention, end);
        ASSERT_EQ(std::ssize(found.weights), n);
        for (std::int64_t key = 0; key < n; ++key) {
          const double weight = found.weights[static_cast<std::size_t>(key)];
          const float expected = cell(maps, layer, head, end, key);
          if (std::isnan(weight)) {
            ASSERT_EQ(expected, 0) << layer << " " << end << " " << key;
          } else {
            ASSERT_NEAR(weight, expected, 1e-5) << layer << " " << end << " " << key;
          }
        }
      }
    }
  }
}

TEST(TokenImportance, IsTheRowOfTheMapForEveryEndOfTheText) {
  for (const char* name : {"fastformer", "fastformer_later"}) {
    const ReferenceRun run = reference_run(name);
    EXPECT_EQ(importances_of(*run.trace, 1),
              (std::vector{ImportanceOf::query_attention, ImportanceOf::key_attention}));
    expect_rows(run, run.maps, ImportanceOf::query_attention);
    expect_rows(run, run.key_maps, ImportanceOf::key_attention);
  }
}

TEST(TokenImportance, IsTheRowItselfForOtherMechanisms) {
  const ReferenceRun run = reference_run("gpt2");
  EXPECT_EQ(importances_of(*run.trace, 0), std::vector{ImportanceOf::map});
  expect_rows(run, run.maps, ImportanceOf::map);
}

TEST(TokenImportance, SumsToOneWithinItsWindow) {
  const ReferenceRun run = reference_run("fastformer");
  const TokenImportance found =
      token_importance(*run.trace, 1, std::nullopt, ImportanceOf::key_attention, 12);
  EXPECT_EQ(found.window, 5);
  EXPECT_TRUE(std::isnan(found.weights[7]));
  EXPECT_TRUE(std::isnan(found.weights[13]));
  EXPECT_NEAR(std::accumulate(found.weights.begin() + 8, found.weights.begin() + 13, 0.0), 1,
              1e-12);
  const std::vector<RankedToken> top = top_tokens(found, 99);
  ASSERT_EQ(top.size(), 5U);
  for (std::size_t i = 1; i < top.size(); ++i) EXPECT_GE(top[i - 1].weight, top[i].weight);
  EXPECT_EQ(top_tokens(found, 2).size(), 2U);
}

TEST(TokenImportance, SeesTheWholeTextForBidirectionalAttention) {
  Trace trace;
  trace.layers.resize(1);
  trace.layers[0].quantities.emplace("query_logits",
                                     Tensor({1, 3}, {0.0F, std::log(2.0F), std::log(5.0F)}));
  const TokenImportance found = token_importance(trace, 0, 0, ImportanceOf::query_attention, 0);
  EXPECT_NEAR(found.weights[0], 0.125, 1e-7);
  EXPECT_NEAR(found.weights[2], 0.625, 1e-7);
}

TEST(TokenImportance, NamesMissingRequirements) {
  const ReferenceRun run = reference_run("gpt2");
  const Trace& trace = *run.trace;
  EXPECT_THAT(error_of([&] { return token_importance(trace, 3, 0, ImportanceOf::map, 0); }),
              testing::HasSubstr("the trace has no such layer"));
  const auto refused = [&](std::int64_t head, ImportanceOf of, std::int64_t end, const char* why) {
    EXPECT_THAT(error_of([&] { return token_importance(trace, 0, head, of, end); }),
                testing::HasSubstr(why));
  };
  refused(2, ImportanceOf::map, 0, "the trace has no such head");
  refused(0, ImportanceOf::map, 19, "the trace has no such token");
  refused(0, ImportanceOf::key_attention, 0, "-attention was not recorded");
}

TEST(TokenImportanceFigure, DrawsTheTextOfEveryAttention) {
  const ReferenceRun run = reference_run("fastformer");
  Subject subject;
  subject.label = "fastformer";
  subject.mechanism = run.trace->mechanism;
  subject.trace = run.trace;
  FigureRequest request;
  request.subjects = {subject};
  request.settings = {{"layer", 1}, {"head", 0}, {"end", 12}, {"top", 3}};
  const Figure figure = make_figure("token-importance", request);
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_NE(figure.panels[0].title.find("query-attention, window 5"), std::string::npos);
  EXPECT_NE(figure.panels[1].title.find("key-attention"), std::string::npos);
  EXPECT_EQ(figure.numbers.at("top_token/key/fastformer").size(), 3U);
  const auto expected = token_importance(*run.trace, 1, 0, ImportanceOf::key_attention, 12);
  EXPECT_EQ(figure.numbers.at("weight/key/fastformer")[10], expected.weights[10]);
  request.settings["attention"] = "map";
  EXPECT_EQ(make_figure("token-importance", request).panels.size(), 1U);
  request.settings["end"] = std::int64_t{19};
  EXPECT_THROW((void)make_figure("token-importance", request), Error);
}

}  // namespace
}  // namespace attnscope
