#include "app/canvas/map_tiles.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <set>

namespace attnscope {
namespace {

TEST(MipLevels, KeepTheMeanAtOddExtents) {
  for (const auto& [width, height] :
       {std::pair(197, 197), std::pair(5, 3), std::pair(64, 7), std::pair(1, 9)}) {
    std::vector<float> values(static_cast<std::size_t>(width * height));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 31);
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    const auto levels = mip_levels(values, width, height);
    for (const MipLevel& level : levels) {
      ASSERT_EQ(level.values.size(), static_cast<std::size_t>(level.width * level.height));
      const double sum = std::accumulate(level.values.begin(), level.values.end(), 0.0);
      EXPECT_NEAR(sum / static_cast<double>(level.values.size()), mean, 1e-4 * mean);
    }
    EXPECT_EQ(levels.back().values.size(), 1U);
  }
}

TEST(MipLevels, CheckerboardsTurnGrey) {
  std::vector<float> values(197 * 197);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i / 197 + i % 197) % 2);
  const auto levels = mip_levels(values, 197, 197);
  for (const float value : levels[1].values) EXPECT_NEAR(value, 0.5, 0.02);
}

TEST(MipLevels, OneNaNStaysWhereItIs) {
  std::vector<float> values(64, 1.0F);
  values[2 * 8 + 5] = std::numeric_limits<float>::quiet_NaN();
  const auto levels = mip_levels(values, 8, 8);
  for (std::size_t i = 0; i < levels[1].values.size(); ++i) {
    EXPECT_EQ(std::isnan(levels[1].values[i]), i == 1 * 4 + 2);
  }
}

TEST(Tiles, IsOneForSmallMapsAtEveryZoom) {
  EXPECT_EQ(coarsest_level({197, 197}), 0);
  for (const double pixels : {20.0, 200.0, 20000.0}) {
    EXPECT_EQ(tiles_for(1, 2, {197, 197}, {0, 0, 1, 1}, pixels),
              (std::vector<TileKey>{{1, 2, 0, 0, 0}}));
  }
  EXPECT_TRUE(tiles_for(0, 0, {0, 0}, {0, 0, 1, 1}, 100).empty());
}

TEST(Tiles, CoverOnlyTheVisiblePartOfLargeMaps) {
  const MapExtent extent{5000, 5000};
  EXPECT_EQ(coarsest_level(extent), 4);
  EXPECT_EQ(overview_level(extent), 5);
  EXPECT_EQ(overview_level({2048, 2048}), 2);
  EXPECT_EQ(tiles_for(0, 0, extent, {0, 0, 1, 1}, 150), (std::vector<TileKey>{{0, 0, 5, 0, 0}}));
  EXPECT_EQ(tiles_for(0, 0, extent, {0, 0, 1, 1}, 300),
            (std::vector<TileKey>{{0, 0, 5, 0, 0}, {0, 0, 4, 0, 0}}));
  // Cells have two pixels, and a tenth of the map is in view in both directions.
  const auto tiles = tiles_for(0, 0, extent, {0.45, 0.45, 0.1, 0.1}, 10000);
  EXPECT_EQ(tiles.front().level, 5);
  std::set<std::pair<std::int64_t, std::int64_t>> covered;
  for (std::size_t i = 1; i < tiles.size(); ++i) {
    EXPECT_EQ(tiles[i].level, 0);
    const TileCells cells = cells_of(tiles[i], extent);
    EXPECT_LE(cells.row1 - cells.row0, tile_side);
    covered.emplace(tiles[i].y, tiles[i].x);
  }
  for (std::int64_t row = 2250; row < 2750; row += 50) {
    EXPECT_TRUE(covered.contains({row / tile_side, row / tile_side}));
  }
  EXPECT_LE(covered.size(), 9U);
}

TEST(Tiles, LastOneEndsWithTheMap) {
  const TileCells cells = cells_of({0, 0, 1, 0, 1}, {1500, 1500});
  EXPECT_EQ(cells.key0, 1024);
  EXPECT_EQ(cells.key1, 1500);
  EXPECT_EQ(cells.row1, 1024);
}

}  // namespace
}  // namespace attnscope
