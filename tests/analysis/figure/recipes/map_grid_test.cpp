#include "analysis/figure/recipes/map_grid.h"

#include <gtest/gtest.h>
#include <set>

namespace attnscope {
namespace {

/// A grid of maps of 4 × 4 cells with titles over the first row.
Figure grid_of(std::int64_t rows, std::int64_t columns) {
  Figure figure;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      Panel panel = map_panel(row, column);
      if (row == 0) panel.title = std::to_string(column);
      if (column == 0) panel.y.label = "row " + std::to_string(row);
      panel.marks.emplace_back(HeatMap{4, 4, std::vector<float>(16, 0.5F)});
      figure.panels.push_back(std::move(panel));
    }
  }
  figure.colour_scales.push_back({.label = "weight"});
  return figure;
}

constexpr double kLeastMm = 7.5;

TEST(MapGrid, MapsStayLargeEnoughToBeReadHoweverMany) {
  for (const double width_mm : {84.0, 174.0}) {
    for (const std::int64_t columns : {1, 3, 6, 7, 12, 24, 48}) {
      Figure figure = grid_of(2, columns);
      const double frame_mm = finish_map_grid(figure, {.rows = 2, .columns = columns}, width_mm);
      EXPECT_GE(frame_mm, kLeastMm) << columns << " in " << width_mm << " mm";
    }
  }
}

TEST(MapGrid, BreaksWideRowsIntoSeveralUnderTheirTitle) {
  Figure figure = grid_of(2, 12);
  finish_map_grid(figure, {.rows = 2, .columns = 12}, 84);
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  std::int64_t last_row = 0, last_column = 0;
  for (const Panel& panel : figure.panels) {
    EXPECT_TRUE(places.insert({panel.row, panel.column}).second) << "two in one place";
    last_row = std::max(last_row, panel.row);
    last_column = std::max(last_column, panel.column);
  }
  EXPECT_EQ(last_row, 3);
  EXPECT_EQ(last_column, 5);
  // The eighth map of the second row.
  const Panel& panel = figure.panels[12 + 7];
  EXPECT_EQ(panel.title, "7");
  EXPECT_EQ(panel.row, 3);
  EXPECT_EQ(figure.panels[12 + 6].y.label, "row 1");
  EXPECT_TRUE(panel.y.label.empty());
}

TEST(MapGrid, LeavesRowsThatFitUnchanged) {
  Figure figure = grid_of(2, 6);
  finish_map_grid(figure, {.rows = 2, .columns = 6}, 84);
  EXPECT_EQ(figure.panels.back().row, 1);
  EXPECT_EQ(figure.panels.back().column, 5);
  EXPECT_TRUE(figure.panels.back().title.empty());
}

}  // namespace
}  // namespace attnscope
