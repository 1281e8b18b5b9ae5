#include "analysis/heads/head_table.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <optional>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/baselines/null_model.h"
#include "core/error.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/naive_attention.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

/// The C++ counterpart of make_map in tests/data/heads/make_heads.py.
Tensor map_of_case(const nlohmann::json& made) {
  const std::int64_t n = made.at("n");
  Tensor map = kernel_map(n, made.at("width"), made.at("power"), made.at("seed"));
  MatrixD exact = map.matrix().cast<double>();
  exact.col(made.at("column").get<Eigen::Index>()) *= made.at("factor").get<double>();
  if (made.at("causal")) exact.triangularView<Eigen::StrictlyUpper>().setZero();
  for (Eigen::Index i = 0; i < n; ++i) exact.row(i) /= exact.row(i).sum();
  map.matrix() = exact.cast<float>();
  return std::move(map).reshaped({1, n, n});
}

Trace trace_of_case(const nlohmann::json& made) {
  Trace trace;
  const std::int64_t n = made.at("n"), d = made.at("d"), grid = made.at("grid");
  LayerTrace& layer = trace.layers.emplace_back();
  layer.implied_map = map_of_case(made);
  layer.values = raw_uniform({n, d}, made.at("seed").get<unsigned>() + 7).reshaped({1, n, d});
  if (made.contains("period")) {
    const auto period = made["period"].get<std::int64_t>();
    for (std::int64_t i = 0; i < n; ++i) layer.layout.texts.push_back(std::to_string(i % period));
    if (made.contains("picture")) {
      const auto cells = made["picture"].get<std::vector<std::int64_t>>();
      layer.layout.pictures = {{cells.at(0), cells.at(1), cells.at(2)}};
    }
    layer.key_layout = trace.layout = layer.layout;
  }
  if (grid > 0) {
    trace.layout = layer.layout = layer.key_layout = {1, grid, grid};
    trace.images = {Image{4 * grid, 4 * grid, 1,
                          std::vector<std::uint8_t>(static_cast<std::size_t>(16 * grid * grid))}};
  }
  return trace;
}

Trace of_map(std::vector<float> values, std::int64_t rows, std::int64_t columns) {
  Trace trace;
  trace.layers.emplace_back().implied_map = Tensor({1, rows, columns}, std::move(values));
  return trace;
}

TEST(HeadTable, CountsTheTokensOfAllPictures) {
  Trace trace = of_map({1, 0, 0, 0, 0.5, 0.5, 0, 0, 0.2, 0.3, 0.5, 0, 0.1, 0.2, 0.3, 0.4}, 4, 4);
  TokenLayout& layout = trace.layers.front().layout;
  layout.texts = {"a", "p", "p", "?"};
  layout.pictures = {{1, 1, 1}, {2, 1, 1}};
  trace.layers.front().key_layout = trace.layout = layout;
  const HeadRow row = head_table(trace).rows.at(0);
  EXPECT_NEAR(row.picture_share, 0.5, 1e-6);
  EXPECT_EQ(row.picture_rank, 1);
  ASSERT_EQ(row.picture_shares.size(), 2U);
  EXPECT_NEAR(row.picture_shares[0], 0.2, 1e-6);
  EXPECT_NEAR(row.picture_shares[1], 0.3, 1e-6);
}

TEST(HeadTableAgainstNumPy, EveryMeasureAgrees) {
  for (const nlohmann::json& made : read_test_data("heads/heads.json").at("cases")) {
    const HeadTable table = head_table(trace_of_case(made));
    ASSERT_EQ(table.rows.size(), 1U);
    const HeadRow& row = table.rows[0];
    EXPECT_EQ(row.causal, made.at("causal").get<bool>());
    EXPECT_EQ(table.distance_unit, made.at("grid") > 0 ? "pixels" : "tokens");
    std::vector<std::int64_t> sinks;
    for (const Sink& sink : row.sinks) sinks.push_back(sink.key);
    EXPECT_EQ(sinks, made.at("sinks").get<std::vector<std::int64_t>>());
    for (const HeadMeasure& measure : head_measures()) {
      const std::string name(measure.name);
      if (made.at("measures").contains(name)) {
        const double expected = made.at("measures").at(name);
        EXPECT_NEAR(row.*measure.value, expected, 1e-5 * std::max(1.0, expected)) << name;
      } else {
        EXPECT_TRUE(std::isnan(row.*measure.value)) << name;
      }
    }
  }
}

TEST(HeadTable, EvenAttentionIsKnownByHand) {
  const HeadRow row = head_table(of_map(std::vector<float>(100, 0.1F), 10, 10)).rows.at(0);
  EXPECT_NEAR(row.entropy, std::log(10), 1e-6);
  EXPECT_NEAR(row.normalised_entropy, 1, 1e-7);
  EXPECT_NEAR(row.sink, 0.1, 1e-7);
  EXPECT_EQ(row.sink_share, 0);
  EXPECT_EQ(row.equivalent_rank, 1);
  EXPECT_NEAR(row.participation_rank, 1, 1e-9);
  EXPECT_EQ(row.energy_rank, 1);
  EXPECT_NEAR(row.gap, 0, 1e-6);
  EXPECT_TRUE(std::isnan(row.even_gap)) << "the difference is rounding";
  EXPECT_NEAR(row.distance, 3.3, 1e-6);  // (N² − 1) / 3N
  EXPECT_NEAR(row.diagonal, 0.1, 1e-7);
  EXPECT_TRUE(std::isnan(row.value_norm));
}

TEST(HeadTable, EquivalentRanksFollowTheShare) {
  // Each query gives 0.9 to the first token and 0.1 to itself.
  std::vector<float> values(144, 0);
  for (std::size_t i = 0; i < 12; ++i) {
    values[12 * i] += 0.9F;
    values[13 * i] += 0.1F;
  }
  const Trace trace = of_map(values, 12, 12);
  const HeadRow plain = head_table(trace).rows.at(0);
  const HeadRow squares = head_table(trace, {.threshold = {0.9, RankShare::energy}}).rows.at(0);
  EXPECT_EQ(squares.equivalent_rank, squares.energy_rank);
  EXPECT_EQ(squares.equivalent_rank, 1);
  EXPECT_EQ(plain.energy_rank, 1);
  EXPECT_GT(plain.equivalent_rank, 1);
}

TEST(HeadTable, TheLargestScoreIsOneThatTheQuerySees) {
  // Scores q k / √1 of one head in a causal map: the greatest of all, 6 of query 0 and key 2, is
  // hidden.
  Trace trace = of_map({1, 0, 0, 0.5F, 0.5F, 0, 0.2F, 0.3F, 0.5F}, 3, 3);
  EXPECT_TRUE(std::isnan(head_table(trace).rows.at(0).largest_score)) << "nothing was recorded";
  LayerTrace& layer = trace.layers[0];
  layer.queries = Tensor({1, 3, 1}, {3, 1, -1});
  layer.keys = Tensor({1, 3, 1}, {-2, 0.5F, 2});
  EXPECT_NEAR(head_table(trace).rows.at(0).largest_score, 2, 1e-6);  // −1 · −2 of query 2, key 0
  layer.score_scale = 0.25;
  EXPECT_NEAR(head_table(trace).rows.at(0).largest_score, 0.5, 1e-6);
  trace.mechanism.name = "linear";
  EXPECT_TRUE(std::isnan(head_table(trace).rows.at(0).largest_score)) << "it has no scores";
}

TEST(HeadTable, EvenCausalAttentionHasNormalisedEntropyOne) {
  std::vector<float> values(144);
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = 0; j <= i; ++j) values[12 * i + j] = 1.0F / static_cast<float>(i + 1);
  }
  const HeadRow row = head_table(of_map(values, 12, 12)).rows.at(0);
  EXPECT_TRUE(row.causal);
  EXPECT_NEAR(row.normalised_entropy, 1, 1e-6);
  // Few queries see the last keys. Only the first five keys are therefore judged, and the diagonal
  // is not a sink.
  double first = 0;
  for (int i = 1; i <= 12; ++i) first += 1.0 / i / 12;
  EXPECT_NEAR(row.sink, first, 1e-6);
  EXPECT_TRUE(row.sinks.empty());
}

TEST(HeadTable, EvenAttentionWithinWindowsHasNormalisedEntropyOne) {
  // A sliding window of two keys back, and two windows of a grid.
  SeenKeys sliding;
  for (std::int64_t i = 0; i < 6; ++i) {
    sliding.ranges.emplace_back(std::max<std::int64_t>(i - 2, 0), i + 1);
  }
  for (const SeenKeys& seen : {sliding, within_blocks({{0, 1, 4, 5}, {2, 3}})}) {
    const MatrixD even = even_map(6, 6, seen);
    std::vector<float> values;
    for (const double value : even.reshaped<Eigen::RowMajor>()) {
      values.push_back(static_cast<float>(value));
    }
    Trace trace = of_map(values, 6, 6);
    trace.layers[0].seen = seen;
    EXPECT_NEAR(head_table(trace).rows.at(0).normalised_entropy, 1, 1e-6);
    trace.layers[0].seen = std::nullopt;
    EXPECT_LT(head_table(trace).rows.at(0).normalised_entropy, 0.9) << "a mask nobody recorded";
  }
}

TEST(HeadTable, DividesTheAttentionOnASinkByTheQueriesThatSeeIt) {
  // Two windows of 10 tokens. In the first, every query gives its first key a share of 0.4.
  constexpr std::int64_t kTokens = 20, kWindow = 10;
  std::vector<std::vector<std::int64_t>> blocks(2);
  for (std::int64_t i = 0; i < kTokens; ++i) {
    blocks[static_cast<std::size_t>(i / kWindow)].push_back(i);
  }
  std::vector<float> values(static_cast<std::size_t>(kTokens * kTokens));
  for (std::int64_t i = 0; i < kTokens; ++i) {
    const std::int64_t first = i / kWindow * kWindow;
    for (std::int64_t j = first; j < first + kWindow; ++j) {
      float& value = values[static_cast<std::size_t>(i * kTokens + j)];
      value = first == 0 ? (j == 0 ? 0.4F : 0.6F / 9) : 0.1F;
    }
  }
  Trace trace = of_map(values, kTokens, kTokens);
  trace.layers[0].seen = within_blocks(blocks);
  const HeadRow row = head_table(trace).rows.at(0);
  EXPECT_NEAR(row.sink, 0.4, 1e-6);
  ASSERT_EQ(row.sinks.size(), 1U);
  EXPECT_EQ(row.sinks[0].key, 0);
  EXPECT_NEAR(row.sink_share, 0.2, 1e-6) << "the second window has none";
  trace.layers[0].seen = std::nullopt;
  EXPECT_NEAR(head_table(trace).rows.at(0).sink, 0.2, 1e-6) << "a mask nobody recorded";
}

TEST(HeadTable, JudgesSinksInWindowsOfFewTokens) {
  Trace trace = of_map({1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.5F, 0.5F, 0, 0, 0.5F, 0.5F}, 4, 4);
  trace.layers[0].seen = within_blocks({{0, 1}, {2, 3}});
  const HeadRow row = head_table(trace).rows.at(0);
  EXPECT_NEAR(row.sink, 1, 1e-7);
  ASSERT_EQ(row.sinks.size(), 3U);
  EXPECT_EQ(row.sinks[0].key, 0);
}

TEST(HeadTable, NormalisedEntropyIsTheShareThatTemperaturesAreSetBy) {
  for (const char* const mechanism : {"softmax", "adder"}) {
    Trace trace = *attention_subject(mechanism, {mechanism, {}}).trace;
    const std::int64_t tokens = trace.tokens();
    for (const bool windows : {false, true}) {
      if (windows) {
        std::vector<std::vector<std::int64_t>> blocks(2);
        for (std::int64_t i = 0; i < tokens; ++i) blocks[i < 3 ? 0 : 1].push_back(i);
        for (LayerTrace& layer : trace.layers) layer.seen = within_blocks(blocks);
      }
      for (const HeadRow& row : head_table(trace).rows) {
        EXPECT_NEAR(row.normalised_entropy, entropy_share_at(trace, {row.layer, row.head}), 1e-9);
      }
    }
  }
}

TEST(HeadTable, CountsNoAttentionOfAnIdentityMap) {
  const HeadRow without = head_table(*attention_subject("a", {"adder", {}}).trace).rows.at(0);
  const Subject with = attention_subject("a", {"adder", {{"identity", true}}});
  const HeadRow row = head_table(*with.trace).rows.at(0);
  EXPECT_TRUE(row.identity_removed);
  EXPECT_FALSE(without.identity_removed);
  EXPECT_NEAR(row.entropy, without.entropy, 1e-5);
  EXPECT_NEAR(row.diagonal, without.diagonal, 1e-5);
}

TEST(HeadTable, LeavesQuantitiesThatAMapDoesNotShowUnknown) {
  const HeadRow negative = head_table(of_map({0.5F, 0.5F, 1.5F, -0.5F}, 2, 2)).rows.at(0);
  EXPECT_EQ(negative.state, HeadState::negative);
  EXPECT_TRUE(std::isnan(negative.entropy));
  EXPECT_EQ(negative.equivalent_rank, 2);
  const HeadRow broken = head_table(of_map({0.5F, std::nanf(""), 1, 0}, 2, 2)).rows.at(0);
  EXPECT_EQ(broken.state, HeadState::not_finite);
  EXPECT_TRUE(std::isnan(broken.equivalent_rank));
  const HeadRow zero = head_table(of_map({0, 0, 0, 0}, 2, 2)).rows.at(0);
  EXPECT_EQ(zero.state, HeadState::zero);
  EXPECT_TRUE(std::isnan(zero.sink));
  EXPECT_TRUE(zero.sinks.empty());
}

TEST(HeadTable, AQueryThatAttendsToNothingIsLeftOut) {
  const HeadRow row = head_table(of_map({0.5F, 0.5F, 0, 0}, 2, 2)).rows.at(0);
  EXPECT_NEAR(row.entropy, std::log(2), 1e-6);
  EXPECT_NEAR(row.first_token, 0.5, 1e-7);
}

// Rows of a softmax with a sink sum to less than 1.
TEST(HeadTable, EntropiesAndSinksDoNotDependOnTheSumsOfRows) {
  const HeadRow whole = head_table(of_map({0.25F, 0.75F, 0.5F, 0.5F}, 2, 2)).rows.at(0);
  const HeadRow less = head_table(of_map({0.125F, 0.375F, 0.05F, 0.05F}, 2, 2)).rows.at(0);
  EXPECT_NEAR(less.entropy, whole.entropy, 1e-6);
  EXPECT_NEAR(less.normalised_entropy, whole.normalised_entropy, 1e-6);
  EXPECT_NEAR(less.sink, whole.sink, 1e-6);
  EXPECT_NEAR(less.sink_share, whole.sink_share, 1e-6);
  EXPECT_NEAR(less.diagonal, whole.diagonal, 1e-6);
}

TEST(HeadTable, AcrossTwoSequencesNothingIsNear) {
  Trace trace = of_map({0.25F, 0.75F, 0.5F, 0.5F}, 2, 2);
  trace.layers[0].kind = LayerKind::cross;
  const HeadTable table = head_table(trace);
  const HeadRow& row = table.rows.at(0);
  EXPECT_EQ(table.distance_unit, "");
  for (const double value : {row.distance, row.diagonal, row.previous_token, row.mass_patches}) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_NEAR(row.first_token, 0.375, 1e-7);
  EXPECT_FALSE(std::isnan(row.entropy));
}

TEST(HeadTable, AReducedGridOfKeysCoversTheSamePicture) {
  // One key covers a 2 × 2 grid of queries and lies in the middle of the picture.
  Trace trace = of_map({1, 1, 1, 1}, 4, 1);
  trace.layers[0].layout = trace.layout = {0, 2, 2};
  trace.layers[0].key_layout = {0, 1, 1};
  const HeadTable patches = head_table(trace);
  EXPECT_EQ(patches.distance_unit, "patches");
  EXPECT_NEAR(patches.rows.at(0).distance, std::sqrt(0.5), 1e-12);
  trace.images = {Image{16, 8, 1, std::vector<std::uint8_t>(128)}};
  EXPECT_NEAR(head_table(trace).rows.at(0).distance, std::hypot(4, 2), 1e-12);
  EXPECT_TRUE(std::isnan(patches.rows.at(0).normalised_entropy)) << "one key: nothing to choose";
}

TEST(HeadTable, HeadsThatShareValuesHaveTheirNorm) {
  Trace trace;
  LayerTrace& layer = trace.layers.emplace_back();
  layer.implied_map = Tensor({4, 2, 2}, std::vector<float>(16, 0.5F));
  layer.values = Tensor({2, 2, 1}, {3, 3, 5, 5});
  const HeadTable table = head_table(trace);
  EXPECT_EQ(table.rows[1].value_norm, 3);
  EXPECT_EQ(table.rows[2].output_norm, 5);
  trace.map_channels = 16;
  EXPECT_TRUE(std::isnan(head_table(trace).rows[2].output_norm)) << "a map of one channel";
}

TEST(HeadTable, CountsHeadsOfEachSink) {
  HeadTable table;
  table.rows.resize(3);
  table.rows[0].sinks = {{0, 0.9}, {4, 0.4}};
  table.rows[1].sinks = {{0, 0.5}};
  table.rows[2].state = HeadState::negative;
  std::int64_t of = 0;
  const std::vector<SinkCount> counts = sink_counts(table, of);
  EXPECT_EQ(of, 2);
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0].key, 0);
  EXPECT_EQ(counts[0].heads, 2);
}

TEST(HeadTable, RefusesInvalidOptionsAndUnrecordedMaps) {
  const Trace trace = of_map({1, 0, 0, 1}, 2, 2);
  EXPECT_THROW((void)head_table(trace, {.sink = 1}), Error);
  EXPECT_THROW((void)head_table(trace, {.mass = 0}), Error);
  EXPECT_THROW((void)head_table(trace, {.threshold = 1.5}), Error);
  EXPECT_THROW((void)head_table(trace, {.layers = {1}}), Error);
  Trace empty;
  empty.layers.emplace_back();
  EXPECT_THROW((void)head_table(empty), Error);
  EXPECT_THROW((void)head_measure("entropies"), Error);
}

}  // namespace
}  // namespace attnscope
