#include "analysis/head_steps/head_steps.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/input/input.h"
#include "core/model/model.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

/// A run of a sample model on a sample picture, with all quantities recorded.
Trace run_of(const std::string& model_name, const MechanismChoice* over = nullptr,
             std::optional<std::int64_t> channel = std::nullopt) {
  const std::filesystem::path samples = std::filesystem::path(source_folder()) / "sample_data";
  const auto model = load_model(samples / "models" / (model_name + ".h5"));
  const bool text = model->spec().reads_texts();
  TraceRequest request;
  request.queries_keys_values = true;
  request.quantities = true;
  request.channel = channel;
  return model->run(
      open_input(samples / "inputs" / (text ? "21_gonzalo.txt" : "09_ankle_boot.png")),
      over ? *over : model->spec().mechanism, request, {});
}

void expect_follows(const Trace& trace, ScoreOf score_of) {
  for (const std::int64_t query : {0, 7}) {
    const HeadSteps steps = head_steps(trace, 1, 1, query);
    ASSERT_EQ(steps.score_of, score_of);
    EXPECT_TRUE(steps.agrees()) << query << ": " << steps.difference;
    ASSERT_FALSE(steps.output.empty());
    const auto map = trace.layers[1].implied_map.slice(1);
    const auto expected = (map.row(query) * trace.layers[1].values.slice(1)).eval();
    for (Eigen::Index i = 0; i < std::ssize(steps.output); ++i) {
      EXPECT_NEAR(steps.output[static_cast<std::size_t>(i)],
                  expected(std::max<std::int64_t>(steps.channel, 0) + i), 1e-4);
    }
  }
}

TEST(HeadSteps, AreScaledProductsForSoftmax) {
  const Trace trace = run_of("fashion-softmax");
  expect_follows(trace, ScoreOf::product);
  const HeadSteps steps = head_steps(trace, 0, 0, 3);
  const double direct =
      trace.layers[0].queries.slice(0).row(3).dot(trace.layers[0].keys.slice(0).row(5));
  EXPECT_NEAR(steps.raw[5], direct, 1e-4);
}

TEST(HeadSteps, AreDistancesForAdder) {
  expect_follows(run_of("fashion-adder"), ScoreOf::distance);
  const Trace with = run_of("fashion-adder-identity");
  expect_follows(with, ScoreOf::distance);
  EXPECT_TRUE(head_steps(with, 0, 0, 4).identity);
  EXPECT_LT(head_steps(with, 0, 0, 4).weights[4], 1) << "I stands apart";
}

TEST(HeadSteps, AreProductsOfCodesForHashing) {
  expect_follows(run_of("fashion-hash"), ScoreOf::codes);
  const HeadSteps steps = head_steps(run_of("fashion-hash"), 0, 0, 1);
  EXPECT_FALSE(steps.softmax);
  EXPECT_EQ(steps.offset, 32) << "2^c above 16 bits";
}

TEST(HeadSteps, DependOnKeysOnlyForAdditiveAttention) {
  const MechanismChoice additive{"additive", {}};
  expect_follows(run_of("fashion-softmax", &additive), ScoreOf::importance);
}

TEST(HeadSteps, BelongToOneChannelForDaft) {
  expect_follows(run_of("fashion-daft-full", nullptr, 2), ScoreOf::key_logits);
  const HeadSteps mean = head_steps(run_of("fashion-daft-full"), 1, 1, 3);
  EXPECT_FALSE(mean.agrees()) << "the map is the mean over channels";
}

TEST(HeadSteps, ATextsQueryDoesNotSeeLaterTokens) {
  const Trace trace = run_of("shakespeare-softmax");
  const HeadSteps steps = head_steps(trace, 0, 0, 4);
  EXPECT_TRUE(std::isinf(steps.scores[5]));
  EXPECT_TRUE(steps.agrees()) << steps.difference;
}

TEST(HeadSteps, ReportsWhereTheMapDiffersFromTheScores) {
  Trace trace = run_of("fashion-softmax");
  trace.layers[0].implied_map.slice(0).row(2) *= 0.5F;
  EXPECT_FALSE(head_steps(trace, 0, 0, 2).agrees());
  EXPECT_THROW((void)head_steps(trace, 0, 99, 2), Error);
  EXPECT_THROW((void)head_steps(trace, 0, 0, 9999), Error);
}

TEST(TokensInPlane, KeepTheQueryAndItsMostAttendedTokens) {
  const Trace trace = run_of("fashion-softmax");
  const TokensInPlane plane = tokens_in_plane(trace, 0, 0, 3, 6, 2.5);
  ASSERT_EQ(plane.tokens.size(), 6U);
  EXPECT_TRUE(std::ranges::find(plane.tokens, 3) != plane.tokens.end());
  Eigen::Index greatest = 0;
  trace.layers[0].implied_map.slice(0).row(3).maxCoeff(&greatest);
  EXPECT_TRUE(std::ranges::find(plane.tokens, greatest) != plane.tokens.end());
  EXPECT_GT(plane.share, 0.2);
  EXPECT_LE(plane.share, 1 + 1e-9);
  double largest = 0;
  for (const auto* list : {&plane.query_x, &plane.query_y, &plane.key_x, &plane.key_y}) {
    for (const double one : *list) largest = std::max(largest, std::abs(one));
  }
  EXPECT_NEAR(largest, 2.5, 1e-9);
}

}  // namespace
}  // namespace attnscope
