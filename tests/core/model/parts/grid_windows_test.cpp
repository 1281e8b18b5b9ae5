// Windows of a grid, including padded and shifted ones, and vectors of relative positions along its
// axes (SAM).
#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>

#include "core/attention/score_blocks.h"
#include "core/model/parts/score_bias.h"
#include "core/model/parts/windowed_attention.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

TEST(GridWindows, TilesKnowTheirPaddingBeyondTheGrid) {
  const std::vector<GridWindow> windows = tiled_windows({3, 4}, 2);
  ASSERT_EQ(windows.size(), 4U);
  EXPECT_EQ(windows[0], (GridWindow{{2, 2}, {0, 1, 4, 5}}));
  EXPECT_EQ(windows[1], (GridWindow{{2, 2}, {2, 3, 6, 7}}));
  EXPECT_EQ(windows[2], (GridWindow{{2, 2}, {8, 9, -1, -1}}));
}

TEST(GridWindows, TilesThatAreCutAreSmallerAtTheEdges) {
  const std::vector<GridWindow> windows = tiled_windows({3, 5}, 2, WindowFilling::cut);
  ASSERT_EQ(windows.size(), 6U);
  EXPECT_EQ(windows[0], (GridWindow{{2, 2}, {0, 1, 5, 6}}));
  EXPECT_EQ(windows[2], (GridWindow{{2, 1}, {4, 9}}));
  EXPECT_EQ(windows[3], (GridWindow{{1, 2}, {10, 11}}));
  EXPECT_EQ(windows[5], (GridWindow{{1, 1}, {14}}));
}

// Rows of each window in the first column of windows, which shows a single axis; −1 is padding.
std::vector<std::vector<std::int64_t>> rows_of_windows(std::int64_t cells, std::int64_t side,
                                                       WindowFilling filling) {
  std::vector<std::vector<std::int64_t>> rows;
  const std::int64_t columns = filling == WindowFilling::after_shift ? side : side + 1;
  for (const GridWindow& window : shifted_windows({cells, columns}, side, filling)) {
    std::vector<std::int64_t>& own = rows.emplace_back();
    for (std::int64_t row = 0; row < window.extents.rows; ++row) {
      const std::int64_t token =
          window.tokens[static_cast<std::size_t>(row * window.extents.columns)];
      own.push_back(token < 0 ? -1 : token / columns);
    }
    // Each row of windows is kept once, for the first column.
    if (std::ranges::find(rows.begin(), rows.end() - 1, own) != rows.end() - 1) rows.pop_back();
  }
  return rows;
}

TEST(GridWindows, ShiftedWindowsSeparateTheFirstCells) {
  using Rows = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(rows_of_windows(8, 4, WindowFilling::after_shift),
            (Rows{{2, 3, 4, 5}, {6, 7}, {0, 1}}));
  // timm shifts the grid cyclically and then pads with zeros.
  EXPECT_EQ(rows_of_windows(6, 4, WindowFilling::after_shift), (Rows{{2, 3, 4, 5}, {0, 1}}));
  EXPECT_EQ(rows_of_windows(7, 4, WindowFilling::after_shift),
            (Rows{{2, 3, 4, 5}, {6, 0}, {1, -1}}));
  // transformers pads with zeros and then shifts cyclically.
  EXPECT_EQ(rows_of_windows(7, 4, WindowFilling::before_shift),
            (Rows{{2, 3, 4, 5}, {6, -1}, {0, 1}}));
}

TEST(GridWindows, NothingShiftsInOneWindow) {
  const GridExtents wide{4, 8};
  EXPECT_EQ(shifted_windows({4, 4}, 4, WindowFilling::after_shift), tiled_windows({4, 4}, 4));
  // transformers and the authors shift both axes or none; timm decides for each axis.
  EXPECT_EQ(shifted_windows(wide, 4, WindowFilling::none), tiled_windows(wide, 4));
  EXPECT_EQ(shifted_windows(wide, 4, WindowFilling::before_shift), tiled_windows(wide, 4));
  EXPECT_EQ(shifted_windows(wide, 4, WindowFilling::after_shift).size(), 3U);
}

TEST(GridWindows, EachCellIsInOneWindow) {
  for (const WindowFilling filling : {WindowFilling::before_shift, WindowFilling::after_shift}) {
    std::vector<std::int64_t> all;
    for (const GridWindow& window : shifted_windows({11, 9}, 4, filling)) {
      ASSERT_EQ(std::ssize(window.tokens), window.extents.tokens());
      std::ranges::copy_if(window.tokens, std::back_inserter(all),
                           [](std::int64_t token) { return token >= 0; });
    }
    std::ranges::sort(all);
    ASSERT_EQ(all.size(), 99U);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<std::int64_t>(i));
  }
}

// The bias equals the sum for every pair, computed by the equation.
TEST(DecomposedBias, IsTheSumOfBothAxesProducts) {
  constexpr std::int64_t heads = 2, d = 5;
  const GridExtents grid{3, 4};
  const Tensor queries = random_normal({grid.tokens(), heads * d}, 1);
  const Tensor rows = random_normal({2 * grid.rows - 1, d}, 2);
  const Tensor columns = random_normal({2 * grid.columns - 1, d}, 3);
  ScoreTerms terms;
  add_decomposed(rows, columns, queries.matrix(), heads, grid, terms);
  EXPECT_EQ(terms.names, "vectors of relative positions");
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t query = 0; query < grid.tokens(); ++query) {
      std::vector<float> scores(static_cast<std::size_t>(grid.tokens()), 0.5F);
      apply_terms(terms, head, query, scores);
      for (std::int64_t key = 0; key < grid.tokens(); ++key) {
        const std::int64_t down = query / grid.columns - key / grid.columns + grid.rows - 1;
        const std::int64_t right = query % grid.columns - key % grid.columns + grid.columns - 1;
        double expected = 0.5;
        for (std::int64_t c = 0; c < d; ++c) {
          expected += static_cast<double>(queries.matrix()(query, head * d + c)) *
                      static_cast<double>(rows.matrix()(down, c) + columns.matrix()(right, c));
        }
        ASSERT_NEAR(scores[static_cast<std::size_t>(key)], expected, 1e-5);
      }
    }
  }
}

TEST(DecomposedBias, InterpolatedTablesKeepTheirEndsAndMiddle) {
  Tensor table({5, 1}, {-2, -1, 0, 1, 2});
  EXPECT_EQ(resample_offsets(table, 3).matrix(), table.matrix());
  const Tensor finer = resample_offsets(table, 6);
  ASSERT_EQ(finer.shape(), (Shape{11, 1}));
  EXPECT_EQ(finer.matrix()(0, 0), -2);
  EXPECT_NEAR(finer.matrix()(5, 0), 0, 1e-6);
  EXPECT_EQ(finer.matrix()(10, 0), 2);
}

// A window padded with a token equals the window that contains that token.
TEST(WindowedAttention, PaddingIsAttendedToAndLeftOutOfTheMap) {
  const RandomAttention data(6, 6, 2, 4, 3, 9);
  const GridExtents grid{3, 2};
  const auto softmax = make_mechanism({"softmax", {}});
  const FillingRows filling{random_normal({1, 8}, 10), random_normal({1, 8}, 11),
                            random_normal({1, 6}, 12)};
  const WindowedAttention windows(*softmax, data.input(), tiled_windows(grid, 2), filling);
  const auto [output, blocks] = windows.forward_with_map();
  EXPECT_EQ(output.matrix(), windows.forward().matrix());
  const Tensor map = ImpliedMaps(blocks).all();
  EXPECT_TRUE(windows.is_filled());
  ASSERT_EQ(output.shape(), (Shape{6, 6}));
  EXPECT_EQ(windows.rank_bound(), 6);
  for (std::int64_t head = 0; head < 2; ++head) {
    for (std::int64_t query = 4; query < 6; ++query) {
      // Its keys are the two tokens of the last row and the padding, which counts twice.
      const auto q = data.queries.matrix().row(query).segment(head * 4, 4);
      const auto score = [&](const auto& key) { return std::exp(q.dot(key) / 2); };
      const float to_first = score(data.keys.matrix().row(4).segment(head * 4, 4));
      const float to_second = score(data.keys.matrix().row(5).segment(head * 4, 4));
      const float to_filling = 2 * score(filling.key.matrix().row(0).segment(head * 4, 4));
      const float sum = to_first + to_second + to_filling;
      EXPECT_NEAR(map.slice(head)(query, 4), to_first / sum, 1e-6);
      EXPECT_NEAR(map.slice(head)(query, 5), to_second / sum, 1e-6);
      EXPECT_EQ(map.slice(head).row(query).head(4).cwiseAbs().sum(), 0);
      for (std::int64_t c = head * 3; c < head * 3 + 3; ++c) {
        const float expected =
            (to_first * data.values.matrix()(4, c) + to_second * data.values.matrix()(5, c) +
             to_filling * filling.value.matrix()(0, c)) /
            sum;
        EXPECT_NEAR(output.matrix()(query, c), expected, 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace attnscope
