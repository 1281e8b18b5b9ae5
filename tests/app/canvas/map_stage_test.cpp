// One map by itself: its title, axes and profiles, by mouse and keys.
#include "app/canvas/map_stage.h"

#include <QTest>
#include <QToolButton>
#include <gtest/gtest.h>

#include "app/canvas/atlas_chrome.h"
#include "app/canvas/atlas_link.h"
#include "app/canvas/map_title.h"
#include "tests/app/canvas/atlas_fixture.h"
#include "tests/app/canvas/synthetic_trace.h"

namespace attnscope {
namespace {

/// Maps whose value is 100 times the query plus the key.
std::shared_ptr<Trace> numbered_trace() {
  return synthetic_trace(
      2, 3, 10, [](auto, auto, auto q, auto k) { return static_cast<float>(100 * q + k); });
}

TEST(MapProfile, IsTheRowAndTheColumnOfACell) {
  const auto maps = std::make_shared<const ShownMaps>(numbered_trace(), ValueSettings());
  const MapProfile profile = map_profile(maps, {1, 2, 4, 7});
  ASSERT_EQ(profile.row.size(), 10U);
  ASSERT_EQ(profile.column.size(), 10U);
  EXPECT_EQ(profile.row[3], 403);
  EXPECT_EQ(profile.column[3], 307);
  const MapProfile of_row = map_profile(maps, {1, 2, 4, -1});
  EXPECT_EQ(of_row.asked.key, -1);
  EXPECT_EQ(of_row.cell.key, 9) << "the greatest value of the row";
  EXPECT_EQ(of_row.column[0], 9);
  EXPECT_TRUE(map_profile(maps, {1, 2, -1, -1}).row.empty());
}

TEST(TokenAxes, ShowPatchesOfAPictureAndNamesWithoutOne) {
  const auto trace = numbered_trace();
  const auto maps = std::make_shared<const ShownMaps>(trace, ValueSettings());
  const TokenAxes names = token_axes(maps, 0, QFont());
  EXPECT_FALSE(names.are_pictures());
  EXPECT_GT(names.longest_key, 5);
  // A class token and nine patches, the last of which is white.
  Image image{6, 6, 1, std::vector<std::uint8_t>(36, 0)};
  for (const std::size_t at : {28, 29, 34, 35}) image.pixels[at] = 255;
  const auto with_image = std::make_shared<Trace>(*trace);
  with_image->images = {image};
  const TokenAxes pictures =
      token_axes(std::make_shared<const ShownMaps>(with_image, ValueSettings()), 0, QFont());
  ASSERT_TRUE(pictures.are_pictures());
  EXPECT_EQ(pictures.keys.width(), 10 * pictures.keys.height());
  EXPECT_EQ(pictures.queries.height(), 10 * pictures.queries.width());
  const int middle = pictures.keys.height() / 2;
  EXPECT_EQ(pictures.keys.pixelColor(pictures.keys.width() - middle, middle), QColor(Qt::white));
  EXPECT_EQ(pictures.keys.pixelColor(3 * middle, middle), QColor(Qt::black));
  EXPECT_NE(pictures.keys.pixelColor(middle, middle), QColor(Qt::black)) << "the class token";
}

TEST(MapStage, KeepsItsPartsApartAndLeavesThemOutInSmallAtlases) {
  const TokenAxes axes =
      token_axes(std::make_shared<const ShownMaps>(numbered_trace(), ValueSettings()), 0, QFont());
  for (const double side : {900.0, 300.0, 120.0}) {
    MapStage stage = stage_in(QRectF(0, 0, side, side), 24, axes, 1);
    take_map(stage, stage.room, true);
    const QRectF parts[] = {stage.title,   stage.sight, stage.keys,
                            stage.queries, stage.row,   stage.down};
    for (const QRectF& one : parts) {
      EXPECT_TRUE(QRectF(0, 0, side, side).contains(one) || one.isEmpty()) << side;
      for (const QRectF& other : parts) {
        EXPECT_TRUE(&one == &other || !one.intersects(other)) << side;
      }
    }
    EXPECT_EQ(stage.row.isEmpty(), side < 340);
    EXPECT_EQ(stage.keys.isEmpty(), side < 170);
    EXPECT_FALSE(stage.sight.isEmpty());
  }
}

class MapStageTest : public AtlasCanvasTest {
 protected:
  [[nodiscard]] MapTitle* title(std::size_t canvas = 0) {
    return canvases_[canvas]->findChild<MapTitle*>();
  }
  void enlarge(std::int64_t layer, std::int64_t head) {
    const QPointF middle = canvases_[0]->map_rect(layer, head).center();
    QTest::mouseDClick(canvases_[0], Qt::LeftButton, {}, middle.toPoint());
    settle();
  }
};

TEST_F(MapStageTest, NamesTheMapAndDrawsNoOther) {
  open(banded_trace(3, 3, 17), banded_trace(3, 3, 17));
  EXPECT_FALSE(title()->isVisible());
  enlarge(1, 1);
  EXPECT_TRUE(title()->isVisible());
  EXPECT_TRUE(title()->text().startsWith("layer 1 · head 1")) << title()->text().toStdString();
  EXPECT_TRUE(title()->text().contains("entropy")) << title()->text().toStdString();
  EXPECT_EQ(title(1)->text(), title()->text()) << "linked";
  const auto stage = canvases_[0]->stage();
  ASSERT_TRUE(stage);
  EXPECT_TRUE(stage->alone);
  EXPECT_FALSE(canvases_[0]->cell_at(stage->keys.center()));
  // The neighbours' places are empty.
  const QRectF left = canvases_[0]->map_rect(1, 0), right = canvases_[0]->map_rect(1, 2);
  for (const QRectF& map : {left, right}) {
    EXPECT_FALSE(canvases_[0]->cell_at(map.intersected(QRectF(canvases_[0]->rect())).center()));
  }
  QTest::keyClick(canvases_[0], Qt::Key_Escape);
  settle();
  EXPECT_FALSE(title()->isVisible());
}

TEST_F(MapStageTest, GoesToTheNextHeadByKeysAndButtons) {
  open(banded_trace(3, 3, 17));
  enlarge(0, 1);
  AtlasCanvas* canvas = canvases_[0];
  QTest::keyClick(canvas, Qt::Key_Right);
  QTest::keyClick(canvas, Qt::Key_Right);
  settle();
  EXPECT_EQ(session_.selection().layer, 1) << "after the last head of a layer comes the next layer";
  EXPECT_EQ(session_.selection().head, 0);
  EXPECT_TRUE(title()->text().startsWith("layer 1 · head 0")) << title()->text().toStdString();
  auto* const next = title()->findChild<QToolButton*>("next_map");
  auto* const previous = title()->findChild<QToolButton*>("previous_map");
  EXPECT_FALSE(next->accessibleName().isEmpty());
  QTest::mouseClick(previous, Qt::LeftButton);
  EXPECT_EQ(session_.selection().layer, 0);
  EXPECT_EQ(session_.selection().head, 2);
  session_.select_map(id(0), 2, 2);
  settle();
  EXPECT_FALSE(next->isEnabled());
  EXPECT_TRUE(previous->isEnabled());
  EXPECT_TRUE(canvas->stage()->alone) << "the enlarged map follows the selection";
  EXPECT_EQ(canvas->stage()->layer, 2);
  QTest::mouseClick(title()->findChild<QToolButton*>("all_maps"), Qt::LeftButton);
  settle();
  EXPECT_FALSE(canvas->stage());
}

TEST_F(MapStageTest, HasTheSameTitleWhenZoomedAndStepsInPlace) {
  open(banded_trace(2, 3, 17));
  AtlasCanvas* canvas = canvases_[0];
  const QPointF middle = canvas->map_rect(1, 1).center();
  for (int i = 0; i < 12; ++i) wheel(canvas, middle, 1);
  const auto stage = canvas->stage();
  ASSERT_TRUE(stage);
  EXPECT_FALSE(stage->alone);
  EXPECT_TRUE(title()->isVisible());
  EXPECT_TRUE(title()->text().startsWith("layer 1 · head 1")) << title()->text().toStdString();
  const QPointF within = canvas->map_rect(1, 1).topLeft();
  QTest::mouseClick(title()->findChild<QToolButton*>("next_map"), Qt::LeftButton);
  settle();
  EXPECT_EQ(session_.selection().layer, 1);
  EXPECT_EQ(session_.selection().head, 2);
  const QPointF after = canvas->map_rect(1, 2).topLeft();
  EXPECT_NEAR(after.x(), within.x(), 1e-6);
  EXPECT_NEAR(after.y(), within.y(), 1e-6);
}

TEST_F(MapStageTest, DrawsTheProfileOfTheCellUnderTheCursor) {
  open(numbered_trace());
  enlarge(0, 0);
  AtlasCanvas* canvas = canvases_[0];
  const QRectF row = canvas->stage()->row;
  ASSERT_FALSE(row.isEmpty());
  const auto seen = [&] {
    settle();
    const QImage image = canvas->grab_picture();
    const double ratio = image.devicePixelRatio();
    return image.copy(QRectF(row.topLeft() * ratio, row.size() * ratio).toRect());
  };
  const auto move = [&](std::int64_t query, std::int64_t key) {
    QTest::mouseMove(canvas,
                     cell_square(canvas->map_rect(0, 0), {10, 10}, query, key).center().toPoint());
  };
  move(1, 4);
  const QImage first = seen();
  move(8, 4);
  EXPECT_NE(first, seen()) << "another row, less steep";
}

}  // namespace
}  // namespace attnscope
