#include "app/canvas/atlas_layout.h"

#include <cmath>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "analysis/figure/colour_map.h"

namespace attnscope {
namespace {

const QRectF kViewport(30, 50, 400, 700);

void expect_near(QPointF a, QPointF b) {
  EXPECT_NEAR(a.x(), b.x(), 1e-9);
  EXPECT_NEAR(a.y(), b.y(), 1e-9);
}

TEST(AtlasZoom, ScreenAndAtlasAreInverse) {
  const AtlasZoom zoom{137.5, {1.25, 3.5}};
  const QPointF point(0.3, 4.2);
  expect_near(zoom.to_atlas(kViewport, zoom.to_screen(kViewport, point)), point);
}

TEST(AtlasZoom, ZoomingKeepsWhatIsUnderTheCursor) {
  const AtlasZoom zoom{100, {1, 1}};
  const QPointF cursor(61, 333);
  const QPointF under = zoom.to_atlas(kViewport, cursor);
  for (const double factor : {0.5, 1.2, 3.0, 1e6}) {
    const AtlasZoom next = zoom.zoomed(kViewport, cursor, factor, 20, 5000);
    expect_near(next.to_atlas(kViewport, cursor), under);
    EXPECT_GE(next.scale, 20);
    EXPECT_LE(next.scale, 5000);
  }
}

TEST(AtlasZoom, PanningMovesThePictureByThePixels) {
  const AtlasZoom zoom{250, {0.5, 0.5}};
  const QPointF moved = zoom.panned({12, -7}).to_screen(kViewport, QPointF(1, 1)) -
                        zoom.to_screen(kViewport, QPointF(1, 1));
  expect_near(moved, {12, -7});
}

TEST(AtlasZoom, BringsFarAwayMapsBackIntoReach) {
  const AtlasGrid grid{6, 3};
  const AtlasZoom lost{100, {1e6, -1e6}};
  const AtlasZoom kept = lost.kept_in_reach(kViewport, grid);
  const QRectF on_screen =
      kept.to_screen(kViewport, QRectF(QPointF(0, 0), grid.extent())).intersected(kViewport);
  EXPECT_GT(on_screen.width(), 50);
  EXPECT_GT(on_screen.height(), 50);
  const AtlasZoom fitted = fit_grid(grid, kViewport, kViewport);
  expect_near(fitted.kept_in_reach(kViewport, grid).centre, fitted.centre);
}

TEST(AtlasZoom, FitShowsEveryMapInTheFreePart) {
  for (const AtlasGrid& grid :
       {AtlasGrid{6, 3}, AtlasGrid{12, 12}, AtlasGrid{1, 1}, AtlasGrid{2, 9}}) {
    const QRectF free = kViewport.adjusted(0, 0, -20, -150);
    const AtlasZoom zoom = fit_grid(grid, kViewport, free);
    const QRectF all = zoom.to_screen(kViewport, QRectF(QPointF(0, 0), grid.extent()));
    EXPECT_TRUE(free.adjusted(-1e-6, -1e-6, 1e-6, 1e-6).contains(all));
    EXPECT_NEAR(all.center().x(), free.center().x(), 1e-9);
    const bool fills = std::abs(all.width() - free.width()) < 1e-6 ||
                       std::abs(all.height() - free.height()) < 1e-6;
    EXPECT_TRUE(fills) << grid.layers << "×" << grid.columns;
  }
}

TEST(AtlasZoom, ReachesSingleCells) {
  EXPECT_GE(largest_scale(30, {197, 197}) / 197, smallest_numbered_cell);
  EXPECT_GE(largest_scale(700, {2, 2}), 1400) << "maps of few cells can be enlarged too";
}

TEST(MapAt, FindsMapAndCellAndNothingInGaps) {
  const AtlasGrid grid{3, 2};
  const MapExtent extent{10, 20};
  for (std::int64_t layer = 0; layer < 3; ++layer) {
    for (std::int64_t column = 0; column < 2; ++column) {
      const QRectF square = grid.map_square(layer, column);
      const auto place = map_at(grid, square.topLeft() + QPointF(0.5 / 20, 9.5 / 10));
      ASSERT_TRUE(place);
      EXPECT_EQ(place->cell(extent), (MapCell{layer, column, 9, 0}));
      EXPECT_FALSE(map_at(grid, square.topRight() + QPointF(AtlasGrid::gap / 2, 0.5)));
      EXPECT_FALSE(map_at(grid, square.bottomLeft() + QPointF(0.5, AtlasGrid::gap / 2)));
    }
  }
  EXPECT_FALSE(map_at(grid, {-0.01, 0.5}));
  EXPECT_FALSE(map_at(grid, {0.5, 3 * AtlasGrid::pitch + 0.1}));
}

TEST(MapAt, EveryCellsMiddleIsThatCell) {
  const AtlasGrid grid{2, 2};
  const AtlasZoom zoom{333, {0.8, 0.9}};
  const MapExtent extent{7, 5};
  const QRectF map = zoom.to_screen(kViewport, grid.map_square(1, 0));
  for (std::int64_t query = 0; query < 7; ++query) {
    for (std::int64_t key = 0; key < 5; ++key) {
      const QPointF middle = cell_square(map, extent, query, key).center();
      const auto place = map_at(grid, zoom.to_atlas(kViewport, middle));
      ASSERT_TRUE(place);
      EXPECT_EQ(place->cell(extent), (MapCell{1, 0, query, key}));
    }
  }
}

/// All arrangements of some grids.
std::vector<AtlasGrid> arranged_grids() {
  std::vector<AtlasGrid> grids;
  for (const auto& [layers, columns] : {std::pair(6, 3), std::pair(5, 4), std::pair(1, 1)}) {
    for (const bool transposed : {false, true}) {
      for (std::int64_t in_band = 1; in_band <= layers; ++in_band) {
        grids.push_back({layers,
                         columns,
                         {.transposed = transposed, .layers_a_band = in_band, .band_gap = 0.15}});
      }
    }
  }
  return grids;
}

TEST(AtlasArrangement, PlacesMapsSideBySideInTheGridAndFindsThem) {
  for (const AtlasGrid& grid : arranged_grids()) {
    const QRectF all(QPointF(0, 0), grid.extent());
    std::vector<QRectF> squares;
    for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
      for (std::int64_t column = 0; column < grid.columns; ++column) {
        const QRectF square = grid.map_square(layer, column);
        EXPECT_TRUE(all.adjusted(-1e-9, -1e-9, 1e-9, 1e-9).contains(square));
        for (const QRectF& other : squares) EXPECT_FALSE(square.intersects(other));
        squares.push_back(square);
        const auto place = map_at(grid, square.center());
        ASSERT_TRUE(place) << layer << ", " << column;
        EXPECT_EQ(place->layer, layer);
        EXPECT_EQ(place->column, column);
        expect_near(place->within, {0.5, 0.5});
        EXPECT_FALSE(
            map_at(grid, square.bottomRight() + QPointF(AtlasGrid::gap, AtlasGrid::gap) / 2));
      }
    }
    EXPECT_FALSE(map_at(grid, all.bottomRight() + QPointF(0.1, 0.1)));
  }
}

TEST(AtlasArrangement, HeadsOfALayerStayTogether) {
  const AtlasGrid down{6, 3, {.layers_a_band = 3}};
  EXPECT_EQ(down.bands(), 2);
  EXPECT_EQ(down.map_square(3, 0).top(), 0) << "the second band starts at the top";
  EXPECT_GT(down.map_square(3, 0).left(), down.map_square(0, 2).right());
  AtlasGrid across = down;
  across.arrangement.transposed = true;
  for (std::int64_t layer = 0; layer < 6; ++layer) {
    for (std::int64_t head = 0; head < 3; ++head) {
      expect_near(across.map_square(layer, head).topLeft(),
                  down.map_square(layer, head).topLeft().transposed());
    }
  }
}

TEST(AtlasArrangement, FillsTheAvailableArea) {
  // Layers run down in a tall area, across in a wide one and in bands in a very wide one.
  EXPECT_EQ(arranged_to_fill(6, 3, {350, 690}, 16), AtlasArrangement());
  EXPECT_TRUE(arranged_to_fill(6, 3, {700, 350}, 16).transposed);
  const AtlasGrid strip{12, 2, arranged_to_fill(12, 2, {1200, 150}, 16)};
  EXPECT_GT(fitted_side(strip, {1200, 150}), 1.4 * fitted_side({12, 2}, {1200, 150}));
  for (const QSizeF room : {QSizeF(350, 690), QSizeF(700, 350), QSizeF(1400, 500)}) {
    for (const auto& [layers, heads] : {std::pair(6, 3), std::pair(12, 12), std::pair(24, 1)}) {
      const AtlasGrid plain{layers, heads};
      const AtlasGrid filling{layers, heads, arranged_to_fill(layers, heads, room, 16)};
      EXPECT_GE(fitted_side(filling, room), fitted_side(plain, room));
      const QSizeF used = filling.extent() * fitted_side(filling, room);
      EXPECT_LE(used.width(), room.width() + 1e-6);
      EXPECT_LE(used.height(), room.height() + 1e-6);
    }
  }
}

TEST(AtlasArrangement, PutsEqualHeadsAtEqualPlaces) {
  // The grids of a smaller and a larger model: with the linked zoom both show the same layer and
  // head.
  const AtlasArrangement shared{.transposed = false, .layers_a_band = 4, .columns_a_band = 8};
  const AtlasGrid large{8, 8, shared}, small{6, 3, shared};
  EXPECT_EQ(small.map_square(5, 2), large.map_square(5, 2));
  EXPECT_LT(small.extent().width(), large.extent().width());
}

TEST(VisibleCells, AreThoseThatTouchTheViewport) {
  const CellRange some = visible_cells(0, 100, 10, 25, 49);
  EXPECT_EQ(some.begin, 2);
  EXPECT_EQ(some.end, 5);
  const CellRange all = visible_cells(0, 100, 10, -50, 500);
  EXPECT_EQ(all.begin, 0);
  EXPECT_EQ(all.end, 10);
  const CellRange none = visible_cells(0, 100, 10, 200, 300);
  EXPECT_EQ(none.begin, none.end);
}

TEST(CellNumber, GrowsWithTheCell) {
  EXPECT_EQ(cell_number(0.123456F, 40), "0.12");
  EXPECT_EQ(cell_number(0.123456F, 60), "0.123");
  EXPECT_EQ(cell_number(0.123456F, 100), "0.1235");
  EXPECT_EQ(cell_number(0, 40), "0");
  EXPECT_EQ(cell_number(std::nanf(""), 40), "nan");
  EXPECT_EQ(cell_number(-INFINITY, 40), "-inf");
}

TEST(ColourBarTicks, LinearTicksAreRoundAndInside) {
  ColourScale scale;
  scale.minimum = 0;
  scale.maximum = 0.037;
  const auto ticks = colour_bar_ticks(scale, 400, 50);
  ASSERT_GE(ticks.size(), 4U);
  EXPECT_EQ(ticks[0].label, "0");
  EXPECT_EQ(ticks[1].label, "0.005");
  for (const Tick& tick : ticks) {
    EXPECT_GE(tick.value, scale.minimum);
    EXPECT_LE(tick.value, scale.maximum * (1 + 1e-9));
  }
}

TEST(ColourBarTicks, LogarithmicTicksArePowersOfTen) {
  ColourScale scale;
  scale.norm = ScaleNorm::logarithmic;
  scale.minimum = 1e-5;
  scale.maximum = 0.5;
  const auto ticks = colour_bar_ticks(scale, 400, 50);
  ASSERT_EQ(ticks.size(), 5U);
  EXPECT_EQ(ticks.front().label, "1e-05");
  EXPECT_EQ(ticks.back().label, "0.1");
  scale.minimum = 0.2;  // a range within one decade has round values instead
  EXPECT_GE(colour_bar_ticks(scale, 400, 50).size(), 3U);
}

TEST(ColourBarTicks, SymmetricTicksRiseThroughZero) {
  ColourScale scale;
  scale.norm = ScaleNorm::symmetric_logarithmic;
  scale.minimum = -1;
  scale.maximum = 1;
  const auto ticks = colour_bar_ticks(scale, 500, 50);
  ASSERT_GE(ticks.size(), 3U);
  bool zero = false;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    zero = zero || ticks[i].value == 0;
    if (i > 0) {
      EXPECT_GT(*fraction_of(scale, ticks[i].value), *fraction_of(scale, ticks[i - 1].value));
    }
  }
  EXPECT_TRUE(zero);
}

TEST(ColourBarTicks, AreNoneWithoutARange) {
  ColourScale scale;
  scale.minimum = scale.maximum = 1;
  EXPECT_TRUE(colour_bar_ticks(scale, 400, 50).empty());
}

TEST(LabelStep, LeavesSpaceBetweenLabels) {
  EXPECT_EQ(label_step(50, 40, 100), 1);
  EXPECT_EQ(label_step(10, 40, 100), 5);
  EXPECT_EQ(label_step(1, 40, 100), 50);
  EXPECT_EQ(label_step(0.1, 40, 12), 12);
}

TEST(PlaceLens, StandsWhereTheMapsStayLargest) {
  const QSizeF tall(240, 250), wide(400, 140);
  // Six layers of three heads fill the width, and the lens stands below.
  EXPECT_EQ(place_lens({6, 3}, kViewport, kViewport, tall, wide).side, LensSide::bottom);
  // Twelve layers of one head leave space on the right.
  EXPECT_EQ(place_lens({12, 1}, kViewport, kViewport, tall, wide).side, LensSide::right);
  for (const AtlasGrid& grid : {AtlasGrid{6, 3}, AtlasGrid{12, 1}, AtlasGrid{2, 12}}) {
    const LensPlace place = place_lens(grid, kViewport, kViewport, tall, wide);
    EXPECT_FALSE(place.free.intersects(place.lens));
    EXPECT_TRUE(kViewport.contains(place.lens));
  }
}

TEST(AtlasGrid, StandsInAnyOrder) {
  AtlasGrid grid{2, 3};
  grid.order = std::make_shared<const std::vector<std::int64_t>>(
      std::vector<std::int64_t>{5, 0, 4, 1, 3, 2});
  EXPECT_EQ(grid.map_square(1, 2), grid.place_square(0, 0));
  EXPECT_EQ(grid.map_square(0, 0), grid.place_square(0, 1));
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    for (std::int64_t column = 0; column < 3; ++column) {
      const auto found = map_at(grid, grid.map_square(layer, column).center());
      ASSERT_TRUE(found);
      EXPECT_EQ(found->layer, layer);
      EXPECT_EQ(found->column, column);
    }
  }
}

}  // namespace
}  // namespace attnscope
