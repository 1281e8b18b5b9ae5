// Attention between groups of tokens, compared with NumPy and with the code of Thought Anchors.
#include "analysis/groups/grouped_maps.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

using nlohmann::json;

constexpr double kGroupsClose = 1e-5;

/// The C++ counterpart of made_map in tests/data/heads/make_heads.py.
Tensor map_of_head(const json& made) {
  const std::int64_t n = made.at("n");
  MatrixD map =
      kernel_map(n, made.at("width"), made.at("power"), made.at("seed")).matrix().cast<double>();
  map.col(made.at("column").get<Eigen::Index>()) *= made.at("factor").get<double>();
  if (made.at("causal")) map.triangularView<Eigen::StrictlyUpper>().setZero();
  for (Eigen::Index i = 0; i < n; ++i) map.row(i) /= map.row(i).sum();
  Tensor result({n, n});
  result.matrix() = map.cast<float>();
  return result;
}

/// A trace with one layer per head.
Trace trace_of_groups(const json& made) {
  Trace trace;
  const std::int64_t n = made.at("n");
  for (const json& head : made.at("heads")) {
    trace.layers.emplace_back().implied_map = map_of_head(head).reshaped({1, n, n});
  }
  return trace;
}

GroupOptions options_of_case(const json& made) {
  TokenGroups groups;
  for (const json& tokens : made.at("groups")) {
    groups.push_back({"group " + std::to_string(groups.size()), tokens});
  }
  return {.groups = groups_as_text(groups), .apart = made.at("apart")};
}

void expect_values(const std::vector<double>& found, const json& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (expected[i].is_null()) {
      EXPECT_TRUE(std::isnan(found[i])) << i;
    } else {
      EXPECT_NEAR(found[i], expected[i].get<double>(), kGroupsClose) << i;
    }
  }
}

void expect_matrix(const MatrixD& found, const json& expected) {
  ASSERT_EQ(static_cast<std::size_t>(found.rows()), expected.size());
  for (Eigen::Index i = 0; i < found.rows(); ++i) {
    const auto row = found.row(i);
    expect_values({row.begin(), row.end()}, expected[static_cast<std::size_t>(i)]);
  }
}

TEST(GroupedMaps, AgreeWithNumPyAndThoughtAnchors) {
  for (const json& made : read_test_data("groups/groups.json").at("cases")) {
    const GroupedMaps maps = grouped_maps(trace_of_groups(made), options_of_case(made));
    const json& heads = made.at("heads");
    ASSERT_EQ(maps.heads.size(), heads.size());
    for (std::size_t index = 0; index < heads.size(); ++index) {
      const GroupedMap& head = maps.heads[index];
      expect_matrix(head.shares, heads[index].at("shares"));
      expect_values(head.of_all, heads[index].at("of_all"));
      if (made.contains("kurtosis")) {
        expect_matrix(maps.mean_weights(head), heads[index].at("mean_weights"));
        expect_values(head.received, heads[index].at("received"));
        const double kurtosis = made["kurtosis"][index];
        EXPECT_NEAR(head.kurtosis, kurtosis, kGroupsClose * std::max(1.0, std::abs(kurtosis)));
      } else {
        EXPECT_TRUE(std::isnan(head.kurtosis));
      }
    }
  }
}

TEST(GroupedMaps, ReceiverHeadsAreThoseOfGreatestKurtosis) {
  const json& made = read_test_data("groups/groups.json").at("cases")[0];
  GroupOptions options = options_of_case(made);
  options.receivers = 2;
  const GroupedMaps maps = grouped_maps(trace_of_groups(made), options);
  ASSERT_EQ(maps.receivers.size(), 2U);
  const GroupedMap &first = maps.heads[maps.receivers[0]], &second = maps.heads[maps.receivers[1]];
  EXPECT_GT(first.kurtosis, second.kurtosis);
  for (const GroupedMap& head : maps.heads) {
    const bool chosen = &head == &first || &head == &second;
    EXPECT_TRUE(chosen || head.kurtosis < second.kurtosis);
  }
  EXPECT_NEAR(maps.received[0], (first.received[0] + second.received[0]) / 2, 1e-15);
  options.receivers = 0;  // a tenth of three heads
  EXPECT_EQ(grouped_maps(trace_of_groups(made), options).receivers.size(), 1U);
}

TEST(GroupedMaps, MeanOfALayerLeavesOutUnknownHeads) {
  Trace trace;
  LayerTrace& layer = trace.layers.emplace_back();
  layer.implied_map = Tensor({3, 2, 2}, {1, 0, 0.5, 0.5,  //
                                         -1, 2, 1, 0,     //
                                         2, 2, 0, 0});
  const GroupedMaps maps = grouped_maps(trace, {.groups = "a=0,b=1"});
  EXPECT_EQ(maps.heads[1].state, HeadState::negative);
  EXPECT_TRUE(std::isnan(maps.heads[1].of_all[0]));
  // The second row of the last head has no attention and is left out.
  EXPECT_THAT(maps.heads[2].of_all, testing::ElementsAre(0.5, 0.5));
  EXPECT_TRUE(std::isnan(maps.heads[2].shares(1, 0)));
  EXPECT_THAT(maps.mean_of(0).of_all, testing::ElementsAre(0.625, 0.375));
  EXPECT_THAT(maps.shares(maps.heads[0], 1), testing::ElementsAre(0.5, 0.5));
  EXPECT_TRUE(maps.receivers.empty());
}

TEST(GroupedMaps, EqualReceiverScoresHaveNoKurtosis) {
  Trace trace;
  trace.layers.emplace_back().implied_map = Tensor({1, 12, 12}, std::vector<float>(144, 1.0F / 12));
  const GroupedMaps maps = grouped_maps(trace, {.groups = "a=0,b=1,c=2,d=3,e=4,f=5,g=6,h=7-11"});
  EXPECT_NEAR(maps.heads[0].received[3], 1.0 / 12, 1e-7);
  EXPECT_TRUE(std::isnan(maps.heads[0].received[4]));
  EXPECT_TRUE(std::isnan(maps.heads[0].kurtosis));
}

TEST(GroupedMaps, RefusesLayersOfOtherTokensAndOptionsOutOfRange) {
  Trace trace;
  trace.layers.emplace_back().implied_map = Tensor({1, 2, 2}, {1, 0, 0, 1});
  trace.layers.emplace_back().implied_map = Tensor({1, 2, 1}, {1, 1});
  EXPECT_THAT(error_of([&] { return grouped_maps(trace, {.groups = "a=0"}); }),
              testing::HasSubstr("groups need layers of the same tokens"));
  EXPECT_EQ(grouped_maps(trace, {.groups = "a=0", .layers = {0}}).heads.size(), 1U);
  EXPECT_THAT(
      error_of([&] { return grouped_maps(trace, {.groups = "a=0", .layers = {0}, .apart = 0}); }),
      testing::HasSubstr("at least 1"));
}

TEST(GroupedMaps, GroupsAreFoundByNameAndNumber) {
  const TokenGroups groups = {{"the", {0}}, {"cat", {1}}, {"the", {2}}};
  EXPECT_EQ(group_named(groups, "cat"), 1U);
  EXPECT_EQ(group_named(groups, "2"), 2U);
  EXPECT_FALSE(group_named(groups, "all").has_value());
  EXPECT_THAT(error_of([&] { return group_named(groups, "the"); }),
              testing::HasSubstr("several groups have this name"));
  EXPECT_THAT(error_of([&] { return group_named(groups, "3"); }),
              testing::HasSubstr("no group has this name"));
  EXPECT_THAT(error_of([] {
                return group_named({{"1", {0}}, {"a", {1}}}, "1");
              }),
              testing::HasSubstr("several groups have this name"));
  EXPECT_EQ(group_in_words({{"Now my charms\nare", {0}}}, 0, 8), "Now my …");
}

}  // namespace
}  // namespace attnscope
