#include "core/attention/token_layout.h"

#include <gtest/gtest.h>

#include "core/trace/linked_tokens.h"

namespace attnscope {
namespace {

/// A text with a picture in two tiles of 2 × 2 cells, side by side: a mark before each, a line end
/// after them, and the whole picture.
TokenLayout tiled_layout() {
  TokenLayout layout;
  layout.texts = std::vector<std::string>(18, "p");
  layout.pictures = {{.first = 1,
                      .rows = 2,
                      .columns = 4,
                      .tiles = {1, 6},
                      .tiles_across = 2,
                      .overview = 12,
                      .overview_rows = 2,
                      .overview_columns = 2}};
  return layout;
}

TEST(TokenCells, HaveATokenForEachCellOfTilesAndThoseOfTheWhole) {
  const TokenCells cells = tiled_layout().cells();
  EXPECT_EQ(cells.tokens(), (std::vector<std::int64_t>{1, 2, 3, 4, 6, 7, 8, 9, 12, 13, 14, 15}));
  EXPECT_EQ(cells.end(), 16);
  EXPECT_EQ(cells.token_at(0, 1), 2);
  EXPECT_EQ(cells.token_at(1, 0), 3);
  EXPECT_EQ(cells.token_at(0, 2), 6);
  EXPECT_EQ(cells.token_at(1, 3), 9);
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    for (std::int64_t column = 0; column < cells.columns; ++column) {
      const auto block = cells.block_of(cells.token_at(row, column));
      ASSERT_TRUE(block);
      EXPECT_EQ(block->row, row);
      EXPECT_EQ(block->column, column);
    }
  }
  EXPECT_FALSE(cells.contains(0));
  EXPECT_FALSE(cells.contains(5));
  EXPECT_FALSE(cells.contains(16));
  const auto whole = cells.block_of(15);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->row, 1);
  EXPECT_EQ(whole->column, 2);
  EXPECT_EQ(whole->rows, 1);
  EXPECT_EQ(whole->columns, 2);
}

TEST(TokenCells, SpreadTheWholePictureEvenly) {
  const TokenCells cells = tiled_layout().cells();
  const auto spread = cells.spread([](std::int64_t token) {
    return token == 13 ? 3.0 : token == 6 ? 1.0 : 0.0;
  });
  EXPECT_EQ(spread, (std::vector<double>{0, 0, 2.5, 1.5, 0, 0, 0, 0}));
}

TEST(TokenCells, CoverPartsOfCellsWithTheWholeBeforeTheRows) {
  // 2 × 2 tokens of the whole, then three rows of three, each with an end (LLaVA-NeXT).
  const TokenCells cells{.first = 1,
                         .rows = 3,
                         .columns = 3,
                         .tiles = {5, 9, 13},
                         .tiles_across = 1,
                         .overview = 1,
                         .overview_rows = 2,
                         .overview_columns = 2};
  EXPECT_EQ(cells.end(), 16);
  EXPECT_EQ(cells.token_at(1, 2), 11);
  EXPECT_FALSE(cells.contains(0));
  EXPECT_FALSE(cells.contains(8));
  const auto block = cells.block_of(4);  // rows and columns 1.5 to 3
  ASSERT_TRUE(block);
  EXPECT_EQ(block->row, 1);
  EXPECT_EQ(block->column, 1);
  EXPECT_EQ(block->rows, 2);
  EXPECT_EQ(block->columns, 2);
  const auto spread = cells.spread([](std::int64_t token) { return token == 4 ? 9.0 : 0.0; });
  const std::vector<double> expected{0, 0, 0, 0, 1, 2, 0, 2, 4};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(spread[i], expected[i], 1e-12);
}

TEST(TokenCells, HaveNamesAndLinksInTiles) {
  const TokenLayout tiled = tiled_layout();
  EXPECT_EQ(tiled.name(8), "(1, 2)");
  EXPECT_EQ(tiled.name(13), "(0, 2–3)");
  EXPECT_EQ(tiled.name(11), "p");
  EXPECT_EQ(tiled.cells_of(16), tiled.cells());
  EXPECT_EQ(tiled.cells_of(15), TokenCells{});
  const TokenLayout tower{1, 2, 2, {}};
  EXPECT_EQ(linked_token(tiled, 7, 18, tower, 5), 2);
  EXPECT_EQ(linked_token(tiled, 13, 18, tower, 5), 2);
  EXPECT_EQ(linked_token(tower, 3, 5, tiled, 18), 4);
  EXPECT_EQ(linked_token(tiled, 13, 18, tiled, 18), 13);
}

TEST(TokenLayout, TellsThePicturesOfATextApart) {
  TokenLayout two;
  two.texts = std::vector<std::string>(10, "p");
  two.pictures = {{1, 1, 2}, {4, 2, 2}};
  EXPECT_EQ(two.cell_grids(), 2);
  EXPECT_EQ(two.name(2), "picture 1 (0, 1)");
  EXPECT_EQ(two.name(6), "picture 2 (1, 0)");
  EXPECT_EQ(two.name(3), "p");
  EXPECT_EQ(two.picture_of(2), 0);
  EXPECT_EQ(two.picture_of(7), 1);
  EXPECT_EQ(two.picture_of(8), std::nullopt);
  EXPECT_EQ(two.cells(1), (TokenCells{4, 2, 2}));
  EXPECT_EQ(two.cells(2), TokenCells{});
  EXPECT_EQ(two.cells_of(7, 0), (TokenCells{1, 1, 2}));
  EXPECT_EQ(two.cells_of(7, 1), TokenCells{});
  const TokenLayout grid{1, 2, 2, {}};
  EXPECT_EQ(grid.picture_of(0), std::nullopt);
  EXPECT_EQ(grid.picture_of(4), 0);
  EXPECT_FALSE(grid.is_of_picture(4)) << "it is no picture in a text";
}

TEST(TokenLayout, LinksEachPictureToTheSameOne) {
  TokenLayout two, other, one;
  two.texts = other.texts = one.texts = std::vector<std::string>(12, "p");
  two.pictures = {{0, 1, 2}, {4, 2, 2}};
  other.pictures = {{1, 1, 2}, {6, 2, 2}};
  one.pictures = {{3, 1, 2}};
  EXPECT_EQ(linked_token(two, 7, 12, other, 12), 9);
  EXPECT_EQ(linked_token(two, 1, 12, one, 12), 4);
  EXPECT_EQ(linked_token(two, 7, 12, one, 12), std::nullopt);
  EXPECT_EQ(same_place(two, 4, other, 12), 6);
}

}  // namespace
}  // namespace attnscope
