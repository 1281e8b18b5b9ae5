#include "analysis/baselines/null_model.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/analysis/analysed/softmax_cases.h"

namespace attnscope {
namespace {

TEST(NullModelsBesideNumPy, RanksOfShuffledAndEvenMapsAndOfBlocks) {
  for (const nlohmann::json& made : read_test_data("analysed/analysed.json").at("cases")) {
    const Trace trace = softmax_case(made);
    const nlohmann::json& expected = made.at("null");
    const NullRanks null = null_ranks(trace, IdentityView::as_is, false).at(0);
    EXPECT_EQ(null.shuffled.size(), 8U);
    EXPECT_NEAR(null.rank, expected.at("mean"), 1e-12);
    EXPECT_NEAR(null.deviation, expected.at("deviation"), 1e-9);
    EXPECT_EQ(null.even_rank, expected.at("even").get<std::int64_t>());
    EXPECT_EQ(null.causal, made.at("causal").get<bool>());
    EXPECT_NEAR(null_ranks(trace, IdentityView::with, false).at(0).rank,
                expected.at("with_identity"), 1e-12);
    EXPECT_NEAR(null_ranks(trace, IdentityView::as_is, true).at(0).rank, expected.at("centred"),
                1e-12);
    const std::optional<BlockRank> block = block_ranks(trace).at(0);
    ASSERT_EQ(block.has_value(), made.contains("block"));
    if (!block) continue;
    EXPECT_EQ(block->equivalent_rank, made.at("block").at("equivalent_rank").get<std::int64_t>());
    EXPECT_EQ(block->numerical_rank, made.at("block").at("numerical_rank").get<std::int64_t>());
    EXPECT_EQ(block->cut, made.at("block").at("cut").get<std::int64_t>());
  }
}

TEST(NullModels, ShufflingKeepsEveryRowsWeightsAndTheTriangle) {
  const Trace trace = softmax_case({{"n", 20}, {"d", 3}, {"seed", 4}, {"causal", true}});
  const MatrixD map = trace.layers[0].implied_map.slice(0).cast<double>();
  const MatrixD shuffled = shuffled_rows(map, 3);
  EXPECT_NE(shuffled, map);
  EXPECT_EQ(shuffled, shuffled_rows(map, 3));
  EXPECT_NE(shuffled, shuffled_rows(map, 4));
  for (Eigen::Index i = 0; i < 20; ++i) {
    std::vector<double> before(map.row(i).data(), map.row(i).data() + 20);
    std::vector<double> after(shuffled.row(i).data(), shuffled.row(i).data() + 20);
    for (Eigen::Index j = i + 1; j < 20; ++j) EXPECT_EQ(shuffled(i, j), 0);
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    EXPECT_EQ(before, after);
  }
}

TEST(NullModels, AMapOfWhichNothingIsKnownHasNone) {
  Trace trace;
  trace.layers.emplace_back().implied_map = Tensor({2, 3, 3});
  trace.layers[0].implied_map.slice(1).setConstant(std::nanf(""));
  for (const NullRanks& null : null_ranks(trace, IdentityView::as_is, false)) {
    EXPECT_FALSE(null.known);
  }
  for (const auto& block : block_ranks(trace)) EXPECT_FALSE(block && block->equivalent_rank > 0);
  EXPECT_THROW((void)null_ranks(trace, IdentityView::as_is, false, {.dense_limit = 2}), Error);
}

TEST(BlockRank, OfATriangleOfOnesIsOneThoughItsRankIsFull) {
  MatrixD ones = MatrixD::Ones(32, 32).triangularView<Eigen::Lower>();
  const std::optional<BlockRank> block = block_rank(ones);
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(block->equivalent_rank, 1);
  EXPECT_EQ(block->numerical_rank, 1);
  EXPECT_EQ(spectrum_of_matrix(ones, {}).numerical_rank, 32);
  EXPECT_FALSE(block_rank(MatrixD::Ones(32, 32)).has_value()) << "not causal";
}

}  // namespace
}  // namespace attnscope
