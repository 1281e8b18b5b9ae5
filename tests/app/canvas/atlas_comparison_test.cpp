// A pinned reference in the atlases: differences, wipe, overlay and blinking.
#include <QMouseEvent>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "app/canvas/atlas_link.h"
#include "app/session/comparison_store.h"
#include "tests/app/canvas/atlas_fixture.h"
#include "tests/app/canvas/synthetic_trace.h"

namespace attnscope {
namespace {

std::shared_ptr<Trace> flat_trace(std::int64_t layers, std::int64_t heads, std::int64_t tokens,
                                  float value) {
  return synthetic_trace(layers, heads, tokens, [value](auto, auto, auto, auto) { return value; });
}

ViewSettings from_0_to_1() {
  ViewSettings view;
  view.range_minimum = 0;
  view.range_maximum = 1;
  return view;
}

class AtlasComparisonTest : public AtlasCanvasTest {
 protected:
  void drag(AtlasCanvas* canvas, QPoint from, QPoint to) {
    QTest::mouseMove(canvas, from);
    QTest::mousePress(canvas, Qt::LeftButton, {}, from);
    for (int step = 1; step <= 4; ++step) {
      const QPoint at = from + (to - from) * step / 4;
      QMouseEvent move(QEvent::MouseMove, at, canvas->mapToGlobal(at), Qt::NoButton, Qt::LeftButton,
                       Qt::NoModifier);
      QApplication::sendEvent(canvas, &move);
    }
    QTest::mouseRelease(canvas, Qt::LeftButton, {}, to);
    settle();
  }
};

TEST_F(AtlasComparisonTest, DifferencesHaveTheDivergingColoursOfOneScale) {
  open(flat_trace(2, 2, 10, 0.25F),
       synthetic_trace(2, 2, 10, [](auto, auto h, auto, auto) { return h == 0 ? 0.75F : 0.125F; }));
  session_.set_view(from_0_to_1());
  session_.set_reference(id(0));
  ViewSettings view = session_.view();
  view.comparison = ComparisonView::difference;
  session_.set_view(view);
  settle();
  const ValueRange range = link_.range(id(1), true);
  EXPECT_EQ(range.minimum, -range.maximum);
  EXPECT_GE(range.maximum, 0.5);
  const auto at = [&](std::int64_t head) {
    return pixel(canvases_[1], canvases_[1]->map_rect(1, head).center() + QPointF(3, 3));
  };
  expect_colour(at(0), 0.5 + 0.5 * 0.5 / range.maximum, "diverging");
  expect_colour(at(1), 0.5 - 0.5 * 0.125 / range.maximum, "diverging");
  // The reference keeps its colours.
  expect_colour(pixel(canvases_[0], canvases_[0]->map_rect(1, 0).center() + QPointF(3, 3)), 0.25,
                "viridis");

  view.comparison = ComparisonView::absolute_difference;
  session_.set_view(view);
  settle();
  const ValueRange absolute = link_.range(id(1), true);
  expect_colour(at(1), 0.125 / absolute.maximum, "viridis");
  view.comparison = ComparisonView::relative_difference;
  session_.set_view(view);
  settle();
  expect_colour(at(0), 0.5 + 0.5 * 0.5, "diverging");  // (0.75 − 0.25) / 1

  session_.set_reference(SubjectId::none);
  settle();
  expect_colour(at(0), 0.75, "viridis");
}

TEST_F(AtlasComparisonTest, ReadoutNamesBothWeightsAndTheCounterpart) {
  open(flat_trace(1, 2, 6, 0.25F), flat_trace(1, 2, 6, 0.75F));
  session_.set_reference(id(0));
  ViewSettings view;
  view.comparison = ComparisonView::difference;
  session_.set_view(view);
  settle();
  const auto drawn = link_.drawn(canvases_[1]->subject());
  ASSERT_TRUE(drawn.difference);
  const QStringList lines = readout(*drawn.maps, {0, 1, 2, 3});
  EXPECT_EQ(lines[0], "0.5");
  EXPECT_EQ(lines[1], "0.75 here, 0.25 in the reference");
  EXPECT_EQ(lines.last(), "against head 1 of layer 0");
}

TEST_F(AtlasComparisonTest, WipeShowsTheReferenceLeftOfTheDividerThatIsDragged) {
  open(flat_trace(1, 1, 10, 0.25F), flat_trace(1, 1, 10, 0.75F));
  session_.set_view(from_0_to_1());
  session_.set_reference(id(0));
  ViewSettings view = session_.view();
  view.comparison = ComparisonView::wipe;
  session_.set_view(view);
  settle();
  AtlasCanvas* canvas = canvases_[1];
  ASSERT_TRUE(canvas->wipe_divider());
  EXPECT_FALSE(canvases_[0]->wipe_divider()) << "the reference is not wiped over itself";
  const QRectF map = canvas->map_rect(0, 0);
  // The points lie near a corner of a cell, because its number is printed in the middle.
  const auto left = [&] {
    return pixel(canvas, map.topLeft() + QPointF(0.21, 0.11) * map.width());
  };
  const auto right = [&] {
    return pixel(canvas, map.topLeft() + QPointF(0.81, 0.11) * map.width());
  };
  expect_colour(left(), 0.25, "viridis");
  expect_colour(right(), 0.75, "viridis");
  const Selection selected = session_.selection();
  const QPoint divider(static_cast<int>(std::lround(*canvas->wipe_divider())),
                       static_cast<int>(map.center().y()) + 40);
  drag(canvas, divider, QPoint(static_cast<int>(map.left() + 0.1 * map.width()), divider.y()));
  EXPECT_LT(session_.view().wipe_position, 0.3);
  EXPECT_EQ(session_.selection().query, selected.query) << "a drag of the divider is no click";
  expect_colour(left(), 0.75, "viridis");
}

TEST_F(AtlasComparisonTest, OverlayMixesTheReferenceIn) {
  open(flat_trace(1, 1, 10, 0.0F), flat_trace(1, 1, 10, 1.0F));
  ViewSettings view = from_0_to_1();
  view.colour_map = "grey";
  view.comparison = ComparisonView::overlay;
  view.overlay_opacity = 0.5;
  session_.set_view(view);
  session_.set_reference(id(0));
  settle();
  const QPointF middle = canvases_[1]->map_rect(0, 0).center() + QPointF(3, 3);
  const Colour low = colour_at(find_colour_map("grey"), 0),
               high = colour_at(find_colour_map("grey"), 1);
  EXPECT_NEAR(pixel(canvases_[1], middle).green(), (low.green + high.green) / 2.0, 3);
  view.overlay_opacity = 1;
  session_.set_view(view);
  settle();
  expect_colour(pixel(canvases_[1], middle), 0, "grey");
}

TEST_F(AtlasComparisonTest, SpaceBlinksBetweenOwnAndReference) {
  open(flat_trace(1, 2, 10, 0.25F), flat_trace(1, 2, 10, 0.75F));
  session_.set_view(from_0_to_1());
  settle();
  EXPECT_EQ(session_.reference(), SubjectId::none);
  const QPointF middle = canvases_[1]->map_rect(0, 0).center() + QPointF(3, 3);
  expect_colour(pixel(canvases_[1], middle), 0.75, "viridis");
  QTest::keyClick(canvases_[1], Qt::Key_Space);
  settle();
  EXPECT_EQ(session_.reference(), id(0)) << "the first subject is what one blinks to";
  EXPECT_TRUE(link_.blinking());
  expect_colour(pixel(canvases_[1], middle), 0.25, "viridis");
  expect_colour(pixel(canvases_[0], canvases_[0]->map_rect(0, 0).center() + QPointF(3, 3)), 0.25,
                "viridis");
  QTest::keyClick(canvases_[0], Qt::Key_Space);
  settle();
  expect_colour(pixel(canvases_[1], middle), 0.75, "viridis");
  // Blinking also works on a difference and returns to it.
  ViewSettings view = session_.view();
  view.comparison = ComparisonView::difference;
  session_.set_view(view);
  settle();
  const QColor difference = pixel(canvases_[1], middle);
  QTest::keyClick(canvases_[1], Qt::Key_Space);
  settle();
  expect_colour(pixel(canvases_[1], middle), 0.25, "viridis");
  QTest::keyClick(canvases_[1], Qt::Key_Space);
  settle();
  EXPECT_EQ(pixel(canvases_[1], middle), difference);
}

TEST_F(AtlasComparisonTest, ExplainsMissingDifferencesOfDifferentSizesAndWipesThem) {
  open(flat_trace(1, 1, 10, 0.25F), flat_trace(2, 1, 6, 0.75F));
  session_.set_view(from_0_to_1());
  session_.set_reference(id(0));
  ViewSettings view = session_.view();
  view.comparison = ComparisonView::difference;
  session_.set_view(view);
  settle();
  auto drawn = link_.drawn(canvases_[1]->subject());
  EXPECT_EQ(drawn.maps->extent(0, 0), MapExtent{});
  EXPECT_EQ(drawn.maps->why_empty(0, 0), "6 × 6 here, 10 × 10 in the reference");
  EXPECT_EQ(drawn.maps->why_empty(1, 0), "no counterpart in the reference");
  view.comparison = ComparisonView::wipe;
  view.wipe_position = 1;
  session_.set_view(view);
  settle();
  const QPointF in_map = canvases_[1]->map_rect(0, 0).topLeft() + QPointF(20, 20);
  expect_colour(pixel(canvases_[1], in_map), 0.25, "viridis");
  view.layer_alignment = LayerAlignment::by_depth;
  session_.set_view(view);
  settle();
  drawn = link_.drawn(canvases_[1]->subject());
  EXPECT_EQ(drawn.over->extent(1, 0), (MapExtent{10, 10})) << "the last layer with the last";
}

TEST_F(AtlasComparisonTest, PutsMatchedHeadsNextToEachOther) {
  // The two models have the same heads in another order, each with a peak of its own.
  const auto peaked = [](std::int64_t shift) {
    return [shift](auto, auto h, auto q, auto k) {
      return (q + 3 * ((h + shift) % 3)) % 9 == k ? 0.92F : 0.01F;
    };
  };
  open(synthetic_trace(1, 3, 9, peaked(0)), synthetic_trace(1, 3, 9, peaked(1)));
  session_.set_reference(id(0));
  ViewSettings view;
  view.match_heads = true;
  view.comparison = ComparisonView::absolute_difference;
  session_.set_view(view);
  ComparisonStore& store = comparisons_;
  for (int i = 0; i < 500 && !store.comparison(id(1)); ++i) QTest::qWait(20);
  ASSERT_TRUE(store.comparison(id(1)));
  EXPECT_EQ(store.alignment(id(1))->front().reference_heads, (std::vector<std::int64_t>{1, 2, 0}));
  EXPECT_NEAR(store.comparison(id(1))->mean[ComparisonQuantity::divergence], 0, 1e-12);
  settle();
  const auto drawn = link_.drawn(canvases_[1]->subject());
  for (std::int64_t head = 0; head < 3; ++head) {
    for (std::int64_t q = 0; q < 9; ++q) {
      for (std::int64_t k = 0; k < 9; ++k) EXPECT_EQ(drawn.maps->value({0, head, q, k}), 0);
    }
  }
}

TEST_F(AtlasComparisonTest, ManyFastChangesEndInTheLastPicture) {
  open(banded_trace(6, 3, 65), banded_trace(6, 3, 65));
  ViewSettings view = from_0_to_1();
  for (int step = 0; step < 40; ++step) {
    view.temperature = 0.5 + 0.1 * step;
    session_.set_view(view);
    if (step % 3 == 0) QTest::qWait(3);
  }
  settle();
  const QImage late = canvases_[0]->grab_picture();
  view.temperature = 1;
  session_.set_view(view);
  settle();
  view.temperature = 0.5 + 0.1 * 39;
  session_.set_view(view);
  settle();
  EXPECT_EQ(late, canvases_[0]->grab_picture()) << "nothing of the way is left";
}

}  // namespace
}  // namespace attnscope
