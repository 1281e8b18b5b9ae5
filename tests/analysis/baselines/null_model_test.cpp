#include "analysis/baselines/null_model.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/model/model.h"
#include "core/trace/trace_file.h"
#include "tests/analysis/matrix/softmax_cases.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

TEST(NullModelsAgainstNumPy, RanksOfShuffledAndEvenMapsAndOfBlocks) {
  for (const nlohmann::json& made : read_test_data("analysed/analysed.json").at("cases")) {
    const Trace trace = softmax_case(made);
    const nlohmann::json& expected = made.at("null");
    const NullRanks null = null_ranks(trace).at(0);
    EXPECT_EQ(null.shuffled.size(), 8U);
    EXPECT_NEAR(null.rank, expected.at("mean"), 1e-12);
    EXPECT_NEAR(null.deviation, expected.at("deviation"), 1e-9);
    EXPECT_EQ(null.even_rank, expected.at("even").get<std::int64_t>());
    EXPECT_EQ(null.causal, made.at("causal").get<bool>());
    EXPECT_NEAR(null_ranks(trace, {.identity = IdentityView::with}).at(0).rank,
                expected.at("with_identity"), 1e-12);
    EXPECT_NEAR(null_ranks(trace, {.centred = true}).at(0).rank, expected.at("centred"), 1e-12);
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
  const SeenKeys seen = seen_keys(trace.layers[0], map);
  const MatrixD shuffled = shuffled_rows(map, 3, seen);
  EXPECT_NE(shuffled, map);
  EXPECT_EQ(shuffled, shuffled_rows(map, 3, seen));
  EXPECT_NE(shuffled, shuffled_rows(map, 4, seen));
  for (Eigen::Index i = 0; i < 20; ++i) {
    std::vector<double> before(map.row(i).data(), map.row(i).data() + 20);
    std::vector<double> after(shuffled.row(i).data(), shuffled.row(i).data() + 20);
    for (Eigen::Index j = i + 1; j < 20; ++j) EXPECT_EQ(shuffled(i, j), 0);
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    EXPECT_EQ(before, after);
  }
}

/// Expects the null models of each layer to respect its mask. `hides(layer, i, j)` is true if the
/// mask hides key j from query i.
template <class Hides>
void expect_masks_kept(const Trace& trace, const Hides& hides) {
  for (std::size_t index = 0; index < trace.layers.size(); ++index) {
    const LayerTrace& layer = trace.layers[index];
    const MatrixD map = layer.implied_map.head(0).cast<double>();
    const SeenKeys seen = seen_keys(layer, map);
    const MatrixD shuffled = shuffled_rows(map, 0, seen);
    const MatrixD even = even_map(map.rows(), map.cols(), seen);
    for (Eigen::Index i = 0; i < map.rows(); ++i) {
      Eigen::Index count = 0;
      for (Eigen::Index j = 0; j < map.cols(); ++j) count += hides(index, i, j) ? 0 : 1;
      for (Eigen::Index j = 0; j < map.cols(); ++j) {
        const bool hidden = hides(index, i, j);
        ASSERT_EQ(even(i, j), hidden ? 0 : 1 / static_cast<double>(count)) << i << ", " << j;
        ASSERT_EQ(shuffled(i, j) != 0, !hidden) << i << ", " << j;
      }
    }
  }
}

TEST(NullModels, KeepToTheWindowsOfASequence) {
  const TemporaryFolder folder;
  const std::string family = "hugging_face_mistral";
  write_hashed_safetensors(folder / "model.safetensors", family_shapes(family));
  (void)folder.write("config.json",
                     read_test_data("models/families/" + family + ".json")["config"].dump());
  const std::shared_ptr<const Model> model = load_model(folder.path(), {});
  Input input;
  input.content = Text{{}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7}};
  TraceRequest request;
  request.queries_keys_values = true;
  const Trace trace = model->run(input, model->spec().mechanism, request, {});
  const auto hides = [](std::size_t, Eigen::Index i, Eigen::Index j) {
    return j > i || j <= i - 5;  // "sliding_window": 5
  };
  expect_masks_kept(trace, hides);
  write_trace(folder / "trace.h5", trace);
  expect_masks_kept(read_trace(folder / "trace.h5"), hides);
}

TEST(NullModels, KeepToTheWindowsOfAGrid) {
  const TemporaryFolder folder;
  write_hashed_safetensors(folder / "model.safetensors", family_shapes("swin"));
  ModelOptions options;
  options.overrides = {{"image_height", "32"}, {"image_width", "32"}};
  const std::shared_ptr<const Model> model = load_model(folder.path(), options);
  Input input;
  input.content = hashed_input("input", {3, 32, 32});
  const Trace trace = model->run(input, model->spec().mechanism, {}, {});
  const auto windows = [&](std::size_t layer, Eigen::Index i, Eigen::Index j) {
    const MapBlocks& blocks = *trace.layers[layer].implied_map.blocks();
    for (const std::vector<std::int64_t>& tokens : blocks.partition()) {
      if (std::ranges::count(tokens, i) > 0) return std::ranges::count(tokens, j) == 0;
    }
    return true;
  };
  expect_masks_kept(trace, windows);
  // The map has 16 windows of equal weights and therefore 16 equal singular values.
  EXPECT_EQ(null_ranks(trace, {}, {.layers = {0}}).front().even_rank, 15);
}

// Equal weights with I are I + J/n. Less the mean row 2/n that is I − J/n, with n − 1 singular
// values of 1. Without I nothing is left of equal rows.
TEST(NullModels, CentredEqualWeightsHaveRankZeroButTheirIdentityRemains) {
  const Trace trace = softmax_case({{"n", 12}, {"d", 3}, {"seed", 4}, {"causal", false}});
  const auto even_rank = [&trace](IdentityView view) {
    return null_ranks(trace, {.centred = true, .identity = view}).at(0).even_rank;
  };
  EXPECT_EQ(even_rank(IdentityView::with), 10) << "0.9 · 11 = 9.9";
  EXPECT_EQ(even_rank(IdentityView::without), 0);
}

TEST(NullModels, AreUnknownForMapsWithNaN) {
  Trace trace;
  trace.layers.emplace_back().implied_map = Tensor({2, 3, 3});
  trace.layers[0].implied_map.slice(1).setConstant(std::nanf(""));
  for (const NullRanks& null : null_ranks(trace)) {
    EXPECT_FALSE(null.known);
  }
  for (const auto& block : block_ranks(trace)) EXPECT_FALSE(block && block->equivalent_rank > 0);
  EXPECT_THROW((void)null_ranks(trace, {}, {.dense_limit = 2}), Error);
}

TEST(BlockRank, IsOneForATriangleOfOnesOfFullRank) {
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
