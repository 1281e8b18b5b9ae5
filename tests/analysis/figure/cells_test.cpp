#include "analysis/figure/cells.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace attnscope {
namespace {

HeatMap random_map(std::int64_t rows, std::int64_t columns) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> level(0, 3);
  HeatMap map;
  map.rows = rows;
  map.columns = columns;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    map.values.push_back(static_cast<float>(level(random)) / 3);
  }
  return map;
}

TEST(Cells, NanHasAColourOfItsOwn) {
  HeatMap map;
  map.rows = 1;
  map.columns = 3;
  map.values = {0, std::nanf(""), 1};
  const Cells cells = cells_of(map, ColourScale{});
  EXPECT_EQ(cells.at(0, 0), 0x440154U);
  EXPECT_EQ(cells.at(0, 1), 0xe5e5e5U);
  EXPECT_EQ(cells.at(0, 2), 0xfde725U);
}

TEST(Cells, RunsCoverEveryCellOnce) {
  const Cells cells = cells_of(random_map(13, 29), ColourScale{});
  std::vector<std::uint32_t> drawn(cells.colours.size());
  std::vector<int> times(cells.colours.size());
  std::int64_t runs = 0;
  for_each_run(cells,
               [&](std::int64_t row, std::int64_t first, std::int64_t end, std::uint32_t colour) {
                 for (std::int64_t column = first; column < end; ++column) {
                   const auto cell = static_cast<std::size_t>(row * cells.columns + column);
                   drawn[cell] = colour;
                   ++times[cell];
                 }
                 ++runs;
               });
  EXPECT_EQ(drawn, cells.colours);
  EXPECT_EQ(times, std::vector<int>(cells.colours.size(), 1));
  EXPECT_EQ(runs, run_count(cells));
  EXPECT_LT(runs, 13 * 29);
}

TEST(Cells, MixingTakesThePatchOverEachPixel) {
  Image image{4, 4, 1, std::vector<std::uint8_t>(16, 100)};
  HeatMap map;
  map.rows = map.columns = 2;
  map.values = {0, 1, 1, 0};
  map.opacity = 0.5;
  ColourScale scale;
  scale.colour_map = "grey";
  const Cells cells = mixed(image, map, scale);
  ASSERT_EQ(cells.rows, 4);
  EXPECT_EQ(cells.at(0, 0), 0x323232U);  // half of 100 and half of 0
  EXPECT_EQ(cells.at(1, 1), 0x323232U);
  EXPECT_EQ(cells.at(0, 2), 0xb2b2b2U);  // half of 100 and half of 255
  EXPECT_EQ(cells.at(3, 0), 0xb2b2b2U);
  EXPECT_EQ(cells.at(3, 3), 0x323232U);
}

TEST(Cells, MixingRepeatsAPictureCoarserThanTheMap) {
  Image image{3, 1, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255}};
  HeatMap map;
  map.rows = 2;
  map.columns = 5;
  map.values.assign(10, 0);
  map.opacity = 0;
  const Cells cells = mixed(image, map, ColourScale{});
  EXPECT_EQ(cells.rows, 2);
  EXPECT_EQ(cells.columns, 6);
  EXPECT_EQ(cells.at(1, 1), 0xff0000U);
  EXPECT_EQ(cells.at(1, 2), 0x00ff00U);
}

TEST(Cells, MixingTakesTheCellOverTheMiddleOfEachPixel) {
  const Image image{4, 1, 1, std::vector<std::uint8_t>(4, 100)};
  HeatMap map;
  map.rows = 1;
  map.columns = 3;
  map.values = {0, 1, 0};
  map.opacity = 0.5;
  ColourScale scale;
  scale.colour_map = "grey";
  // The middles 1/8, 3/8, 5/8 and 7/8 lie in the first, second, second and third cell.
  EXPECT_EQ(mixed(image, map, scale).colours,
            (std::vector<std::uint32_t>{0x323232U, 0xb2b2b2U, 0xb2b2b2U, 0x323232U}));
}

TEST(Cells, DrawsATranslucentMapAndItsImageAtOnce) {
  Panel panel;
  panel.marks.emplace_back(Picture{Image{1, 1, 1, {0}}});
  HeatMap map = random_map(2, 2);
  panel.marks.emplace_back(map);  // opaque: hides the picture, but both are drawn
  EXPECT_EQ(cell_drawings(panel, {ColourScale{}}).size(), 2U);
  map.opacity = 0.5;
  panel.marks.back() = map;
  const auto drawings = cell_drawings(panel, {ColourScale{}});
  ASSERT_EQ(drawings.size(), 1U);
  EXPECT_EQ(drawings[0].marks_used, 2U);
}

}  // namespace
}  // namespace attnscope
