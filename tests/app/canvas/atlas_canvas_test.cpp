// The atlas under mouse, wheel and keys, checked pixel by pixel.
#include "app/canvas/atlas_canvas.h"

#include <QApplication>
#include <QImage>
#include <QLabel>
#include <QMouseEvent>
#include <QRawFont>
#include <QTest>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

#include "analysis/figure/colour_map.h"
#include "app/canvas/atlas_link.h"
#include "app/look/font_file.h"
#include "app/session/session.h"
#include "tests/app/canvas/atlas_fixture.h"
#include "tests/app/canvas/synthetic_trace.h"

namespace attnscope {
namespace {

/// A trace in which head h of every layer is constant: (h + 1) / 4.
std::shared_ptr<Trace> steps_trace() {
  return synthetic_trace(2, 3, 10,
                         [](auto, auto h, auto, auto) { return static_cast<float>(h + 1) / 4; });
}

/// An atlas whose graphics can fail.
class FailingCanvas : public AtlasCanvas {
 public:
  using AtlasCanvas::AtlasCanvas;
  using AtlasCanvas::lack_graphics;
};

TEST_F(AtlasCanvasTest, ReportsMissingOpenGLUntilAContextExists) {
  session_.add_trace(banded_trace(2, 3, 10), "one");
  auto* const canvas = new FailingCanvas(session_, link_, id(0));
  (new QHBoxLayout(&window_))->addWidget(canvas);
  window_.resize(400, 300);
  window_.setUpdatesEnabled(false);  // delays the first picture
  window_.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
  QTest::qWait(600);
  const auto says_so = [canvas] { return canvas->findChild<QLabel*>("no_graphics") != nullptr; };
  ASSERT_FALSE(canvas->has_context());
  EXPECT_FALSE(says_so()) << "nothing has failed";
  canvas->lack_graphics();
  EXPECT_TRUE(says_so());
  window_.setUpdatesEnabled(true);
  ASSERT_TRUE(QTest::qWaitFor([canvas] { return canvas->has_context(); }, 5000));
  EXPECT_FALSE(says_so()) << "the context has come";
}

TEST_F(AtlasCanvasTest, MapsHaveTheColoursOfTheirValues) {
  open(steps_trace());
  ViewSettings view;
  view.range_minimum = 0;
  view.range_maximum = 1;
  const auto check = [&](auto&& fraction) {
    session_.set_view(view);
    settle();
    for (std::int64_t head = 0; head < 3; ++head) {
      const QPointF middle = canvases_[0]->map_rect(1, head).center() + QPointF(3, 3);
      expect_colour(pixel(canvases_[0], middle), fraction(static_cast<double>(head + 1) / 4),
                    view.colour_map.c_str(), view.reversed_colours);
    }
  };
  const auto linear = [](double value) { return value; };
  check(linear);
  view.colour_map = "magma";
  check(linear);
  view.reversed_colours = true;
  check(linear);
  view.norm = ScaleNorm::logarithmic;
  view.range_minimum = 0.01;
  const auto by_scale = [&](double value) {
    ColourScale scale;
    scale.minimum = *view.range_minimum;
    scale.maximum = *view.range_maximum;
    scale.norm = view.norm;
    return *fraction_of(scale, value);
  };
  check(by_scale);
  view.norm = ScaleNorm::symmetric_logarithmic;
  view.range_minimum = -1;
  check(by_scale);
}

TEST_F(AtlasCanvasTest, KeepsItsMapsUntilTheNextOnesAreComputed) {
  open(steps_trace());
  ViewSettings view;
  view.range_minimum = 0;
  view.range_maximum = 1;
  session_.set_view(view);
  settle();
  const QPointF middle = canvases_[0]->map_rect(1, 1).center() + QPointF(3, 3);
  const QColor before = pixel(canvases_[0], middle);
  for (const std::int64_t rank : {1, 2, 3}) {
    // The maps have rank 1, so that every approximation of them looks the same.
    view.shown_rank = rank;
    session_.set_view(view);
    do {
      const QColor seen = pixel(canvases_[0], middle);
      EXPECT_NEAR(seen.red(), before.red(), 2);
      EXPECT_NEAR(seen.green(), before.green(), 2);
      EXPECT_NEAR(seen.blue(), before.blue(), 2);
      QTest::qWait(1);
    } while (!canvases_[0]->settled());
  }
}

TEST_F(AtlasCanvasTest, AddsTheIdentityToTheDiagonalOnly) {
  open(steps_trace());
  ViewSettings view;
  view.range_minimum = 0;
  view.range_maximum = 2;
  view.identity = IdentityView::with;
  session_.set_view(view);
  settle();
  const QRectF map = canvases_[0]->map_rect(0, 1);
  const MapExtent extent{10, 10};
  expect_colour(pixel(canvases_[0], cell_square(map, extent, 4, 4).center()), 1.5 / 2, "viridis");
  expect_colour(pixel(canvases_[0], cell_square(map, extent, 4, 6).center()), 0.5 / 2, "viridis");
}

TEST_F(AtlasCanvasTest, CellsWithoutValueAreStripedNotColoured) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  open(synthetic_trace(1, 1, 8, [nan](auto, auto, auto q, auto) { return q == 3 ? nan : 0.5F; }));
  const QRectF map = canvases_[0]->map_rect(0, 0);
  const QRectF cell = cell_square(map, {8, 8}, 3, 5).adjusted(3, 3, -3, -3);
  const QImage image = canvases_[0]->grab_picture();
  std::set<QRgb> colours;
  for (double x = cell.left(); x < cell.right(); ++x) {
    const QColor colour =
        image.pixelColor((QPointF(x, cell.center().y() + 8) * image.devicePixelRatio()).toPoint());
    colours.insert(colour.rgb());
    EXPECT_LT(colour.hslSaturationF(), 0.35) << colour.name().toStdString();
  }
  EXPECT_GE(colours.size(), 2U);
}

TEST_F(AtlasCanvasTest, CursorIsLinkedAndNamesTokens) {
  open(banded_trace(3, 2, 17), banded_trace(3, 2, 17));
  const QRectF cell = cell_square(canvases_[1]->map_rect(2, 1), {17, 17}, 5, 11);
  QTest::mouseMove(canvases_[1], cell.center().toPoint());
  settle();
  const HoveredCell expected{canvases_[1]->subject(), 2, 1, 5, 11};
  EXPECT_EQ(session_.selection().hover, expected);
  const auto maps = link_.maps(canvases_[0]->subject());
  const QStringList lines = readout(*maps, {2, 1, 5, 11});
  EXPECT_EQ(lines[0], QString::asprintf("%.4g", static_cast<double>(maps->value({2, 1, 5, 11}))));
  EXPECT_EQ(lines[1], "query " + QString::fromStdString(maps->trace().layout.name(5)));
  // The other atlas draws the crosshair too: without it the picture changes.
  const QImage with = canvases_[0]->grab_picture();
  QTest::mouseMove(canvases_[1], QPoint(3, 3));
  settle();
  EXPECT_FALSE(session_.selection().hover);
  EXPECT_NE(with, canvases_[0]->grab_picture());
}

TEST_F(AtlasCanvasTest, ClickSelectsMapAndQuery) {
  open(banded_trace(3, 3, 17), banded_trace(3, 3, 17));
  const QRectF cell = cell_square(canvases_[1]->map_rect(1, 2), {17, 17}, 9, 4);
  QTest::mouseClick(canvases_[1], Qt::LeftButton, {}, cell.center().toPoint());
  EXPECT_EQ(session_.selection().subject, id(1));
  EXPECT_EQ(session_.selection().layer, 1);
  EXPECT_EQ(session_.selection().head, 2);
  EXPECT_EQ(session_.selection().query, 9);
}

TEST_F(AtlasCanvasTest, KeysWalkLayersHeadsAndQueries) {
  open(banded_trace(3, 3, 17));
  AtlasCanvas* canvas = canvases_[0];
  QTest::keyClick(canvas, Qt::Key_Down);
  QTest::keyClick(canvas, Qt::Key_Right);
  QTest::keyClick(canvas, Qt::Key_Right);
  QTest::keyClick(canvas, Qt::Key_Right);
  QTest::keyClick(canvas, Qt::Key_Down, Qt::ShiftModifier);
  EXPECT_EQ(session_.selection().layer, 1);
  EXPECT_EQ(session_.selection().head, 2);
  EXPECT_EQ(session_.selection().query, 1);
  QTest::keyClick(canvas, Qt::Key_C);
  EXPECT_EQ(session_.selection().query, 0);
}

TEST_F(AtlasCanvasTest, WheelZoomsAtTheCursorInAllAtlases) {
  open(banded_trace(2, 2, 17), banded_trace(2, 2, 17));
  const QPointF at = canvases_[0]->map_rect(0, 1).center();
  const auto before = canvases_[0]->cell_at(at);
  const double scale = canvases_[0]->zoom().scale;
  wheel(canvases_[0], at, 3);
  EXPECT_NEAR(canvases_[0]->zoom().scale, scale * std::pow(1.2, 3), 1e-6 * scale);
  EXPECT_EQ(canvases_[0]->cell_at(at), before);
  EXPECT_EQ(canvases_[1]->zoom().scale, canvases_[0]->zoom().scale);
  EXPECT_EQ(canvases_[1]->zoom().centre, canvases_[0]->zoom().centre);
  QTest::keyClick(canvases_[1], Qt::Key_F);
  settle();
  EXPECT_NEAR(canvases_[0]->zoom().scale, scale, 1e-6 * scale);
}

TEST_F(AtlasCanvasTest, ZoomingOutEndsWithAllMaps) {
  open(banded_trace(2, 2, 17));
  AtlasCanvas* canvas = canvases_[0];
  const QRectF fitted = canvas->map_rect(0, 0);
  const QPointF at = canvas->map_rect(0, 1).center();
  wheel(canvas, at, 2);
  EXPECT_EQ(link_.view(), AtlasLink::View::free);
  for (const int steps : {-1, -1, -5}) wheel(canvas, at, steps);
  EXPECT_EQ(link_.view(), AtlasLink::View::fit);
  EXPECT_NEAR(canvas->map_rect(0, 0).width(), fitted.width(), 1e-6);
  EXPECT_NEAR(canvas->map_rect(0, 0).left(), fitted.left(), 1e-6);
}

TEST_F(AtlasCanvasTest, DragMovesThePicture) {
  open(banded_trace(2, 2, 17));
  AtlasCanvas* canvas = canvases_[0];
  const QPointF before = canvas->map_rect(0, 0).topLeft();
  const QPoint start = canvas->map_rect(0, 0).center().toPoint();
  const Selection selected = session_.selection();
  QTest::mousePress(canvas, Qt::LeftButton, {}, start);
  for (const int step : {10, 20, 30, 40}) {
    QMouseEvent move(QEvent::MouseMove, start + QPoint(step, step),
                     canvas->mapToGlobal(start + QPoint(step, step)), Qt::NoButton, Qt::LeftButton,
                     Qt::NoModifier);
    QApplication::sendEvent(canvas, &move);
  }
  QTest::mouseRelease(canvas, Qt::LeftButton, {}, start + QPoint(40, 40));
  settle();
  const QPointF moved = canvas->map_rect(0, 0).topLeft() - before;
  EXPECT_NEAR(moved.x(), 40, 1e-6);
  EXPECT_NEAR(moved.y(), 40, 1e-6);
  EXPECT_EQ(session_.selection().layer, selected.layer) << "a drag is no click";
}

TEST_F(AtlasCanvasTest, DoubleClickEnlargesAndEscapeGoesBack) {
  open(banded_trace(3, 3, 17), banded_trace(3, 3, 17));
  AtlasCanvas* canvas = canvases_[1];
  const QRectF small = canvas->map_rect(1, 2);
  QTest::mouseDClick(canvas, Qt::LeftButton, {}, small.center().toPoint());
  settle();
  const QRectF large = canvas->map_rect(1, 2);
  EXPECT_GT(large.width(), 2 * small.width());
  EXPECT_TRUE(QRectF(canvas->rect()).contains(large));
  const auto stage = canvas->stage();
  ASSERT_TRUE(stage);
  EXPECT_GE(large.left(), stage->queries.right() - 1e-6);
  EXPECT_GE(large.top(), stage->keys.bottom() - 1e-6);
  EXPECT_GT(canvases_[0]->map_rect(1, 2).width(), 2 * small.width()) << "linked";
  QTest::keyClick(canvas, Qt::Key_Escape);
  settle();
  EXPECT_NEAR(canvas->map_rect(1, 2).width(), small.width(), 1e-6);
}

TEST_F(AtlasCanvasTest, DeepZoomPrintsNumbers) {
  open(steps_trace());
  AtlasCanvas* canvas = canvases_[0];
  const QPointF middle = canvas->map_rect(0, 1).center();
  while (canvas->zoom().scale / 10 < 2 * smallest_numbered_cell) wheel(canvas, middle, 1);
  QTest::mouseMove(canvas, QPoint(2, 2));
  settle();
  // The number printed in a cell adds pixels of another colour.
  const auto cell = canvas->cell_at(middle);
  ASSERT_TRUE(cell);
  const QRectF square =
      cell_square(canvas->map_rect(0, 1), {10, 10}, cell->query, cell->key).adjusted(4, 4, -4, -4);
  const QImage image = canvas->grab_picture();
  const int ground =
      image.pixelColor((square.topLeft() * image.devicePixelRatio()).toPoint()).lightness();
  int ink = 0;
  for (double y = square.top(); y < square.bottom(); ++y) {
    for (double x = square.left(); x < square.right(); ++x) {
      const QColor seen = image.pixelColor((QPointF(x, y) * image.devicePixelRatio()).toPoint());
      ink += std::abs(seen.lightness() - ground) > 60;
    }
  }
  EXPECT_GT(ink, 20);
}

TEST_F(AtlasCanvasTest, LensChangesTheView) {
  open(banded_trace(3, 2, 17), banded_trace(3, 2, 17));
  open_lens();
  ASSERT_TRUE(canvases_[0]->lens_shown());
  EXPECT_FALSE(canvases_[1]->lens_shown());
  click_lens("scale/log");
  EXPECT_EQ(session_.view().norm, ScaleNorm::logarithmic);
  click_lens("heads/max");
  EXPECT_EQ(session_.view().head_fusion, HeadFusion::maximum);
  click_lens("class/hidden");
  EXPECT_TRUE(session_.view().hide_prefix_tokens);
  click_lens("reverse");
  EXPECT_TRUE(session_.view().reversed_colours);
  click_lens("range/auto");
  EXPECT_TRUE(session_.view().range_maximum);
  click_lens("range/auto");
  EXPECT_FALSE(session_.view().range_maximum);
  QTest::keyClick(canvases_[0], Qt::Key_R);
  EXPECT_EQ(session_.view(), ViewSettings());
}

TEST_F(AtlasCanvasTest, EachMapCanHaveARangeOfItsOwn) {
  // Every map has two areas of constant weight, and the weights grow with the head.
  open(synthetic_trace(2, 3, 10, [](auto, auto h, auto q, auto) {
    return static_cast<float>(h + 1) * (q < 5 ? 0.125F : 0.25F);
  }));
  open_lens();
  const auto fractions = [&](double first, double last) {
    for (const std::int64_t head : {0, 2}) {
      const QRectF map = canvases_[0]->map_rect(1, head);
      const QPointF low = cell_square(map, {10, 10}, 2, 4).center();
      const double most = head == 0 ? first : last;
      expect_colour(pixel(canvases_[0], low), most / 2, "viridis");
      expect_colour(pixel(canvases_[0], low + QPointF(0, map.height() / 2)), most, "viridis");
    }
  };
  fractions(1.0 / 3, 1);
  click_lens("range/list");
  click_lens("range/each");
  EXPECT_EQ(session_.view().range_scope, RangeScope::map);
  fractions(1, 1);
  EXPECT_NEAR(link_.range_of_map(id(0), 1, 0)->maximum, 0.25, 1e-9);
  EXPECT_NEAR(link_.range_of_map(id(0), 1, 2)->maximum, 0.75, 1e-9);
  click_lens("range/list");
  click_lens("range/95");
  EXPECT_EQ(session_.view().range_share, 0.95);
  click_lens("range/auto");
  EXPECT_EQ(session_.view().range_scope, RangeScope::model);
  fractions(1.0 / 3, 1);
}

TEST_F(AtlasCanvasTest, ModelsHaveTheirOwnRangesUntilOneIsRequested) {
  const auto flat = [](float value) {
    return synthetic_trace(
        1, 2, 10, [value](auto, auto h, auto, auto) { return h == 0 ? value : value / 2; });
  };
  open(flat(0.75F), flat(0.25F));
  open_lens();
  const auto seen = [&](std::size_t canvas) {
    return pixel(canvases_[canvas], canvases_[canvas]->map_rect(0, 1).center() + QPointF(3, 3));
  };
  for (const std::size_t canvas : {0U, 1U}) expect_colour(seen(canvas), 0.5, "viridis");
  EXPECT_NEAR(link_.range(id(1)).maximum, 0.25, 1e-6);
  click_lens("range/list");
  click_lens("range/shared");
  EXPECT_EQ(session_.view().range_scope, RangeScope::all_models);
  expect_colour(seen(1), 0.125 / 0.75, "viridis");
  EXPECT_EQ(link_.range(id(1)).maximum, link_.range(id(0)).maximum);
  // Maps that lie over each other share one range.
  click_lens("range/list");
  click_lens("range/model");
  EXPECT_LT(link_.range(id(1)).maximum, 0.3);
  session_.set_reference(id(0));
  ViewSettings view = session_.view();
  view.comparison = ComparisonView::wipe;
  session_.set_view(view);
  EXPECT_GT(link_.range(id(1)).maximum, 0.7);
}

TEST_F(AtlasCanvasTest, LensIsReachedAndChangedByKeys) {
  open(banded_trace(3, 2, 17), banded_trace(3, 2, 17));
  open_lens();
  AtlasCanvas* canvas = canvases_[0];
  QApplication::setActiveWindow(&window_);
  canvas->setFocus();
  ASSERT_TRUE(canvas->hasFocus());
  const QImage before = canvas->grab_picture();
  QTest::keyClick(canvas, Qt::Key_Tab);
  settle();
  EXPECT_TRUE(canvas->hasFocus());
  EXPECT_EQ(canvas->accessibleDescription(), "Colour map: viridis");
  EXPECT_NE(before, canvas->grab_picture()) << "the field is marked";
  QTest::keyClick(canvas, Qt::Key_Right);
  EXPECT_EQ(session_.view().colour_map, "magma");
  const Selection selection = session_.selection();
  for (int i = 0; i < 5; ++i) QTest::keyClick(canvas, Qt::Key_Tab);
  QTest::keyClick(canvas, Qt::Key_Left);
  EXPECT_TRUE(session_.view().range_maximum.has_value());
  QTest::keyClick(canvas, Qt::Key_Return);
  EXPECT_FALSE(session_.view().range_maximum.has_value()) << "automatic again";
  QTest::keyClick(canvas, Qt::Key_Tab);
  QTest::keyClick(canvas, Qt::Key_Left);
  EXPECT_EQ(session_.view().head_fusion, HeadFusion::minimum);
  EXPECT_EQ(canvas->accessibleDescription(), "Heads: minimum");
  QTest::keyClick(canvas, Qt::Key_Right);
  EXPECT_EQ(session_.selection(), selection);
  // Escape returns to the maps, where arrows move the selection. The last Tab leaves the atlas.
  QTest::keyClick(canvas, Qt::Key_Escape);
  QTest::keyClick(canvas, Qt::Key_Down);
  EXPECT_EQ(session_.selection().layer, 1);
  for (int i = 0; i < lens_fields; ++i) QTest::keyClick(canvas, Qt::Key_Tab);
  EXPECT_TRUE(canvas->hasFocus());
  QTest::keyClick(canvas, Qt::Key_Tab);
  EXPECT_FALSE(canvas->hasFocus());
}

TEST_F(AtlasCanvasTest, LensChoosesColourMapsFromItsList) {
  open(banded_trace(3, 2, 17));
  open_lens();
  const QRectF list = canvases_[0]->lens_control("colours");
  click_lens("colours");
  click_lens("colours/magma");
  EXPECT_EQ(session_.view().colour_map, "magma");
  EXPECT_FALSE(list.isEmpty());
}

TEST_F(AtlasCanvasTest, LensTakesSpaceOnlyWhileItIsOpen) {
  open(banded_trace(6, 3, 17), banded_trace(6, 3, 17));
  const double without = canvases_[1]->map_rect(0, 0).width();
  EXPECT_TRUE(canvases_[0]->lens_control("close").isEmpty()) << "closed at first";
  QTest::keyClick(canvases_[0], Qt::Key_L);
  settle();
  EXPECT_LT(canvases_[0]->map_rect(0, 0).width(), without);
  EXPECT_EQ(canvases_[0]->map_rect(0, 0).width(), canvases_[1]->map_rect(0, 0).width());
  click_lens("close");
  EXPECT_EQ(canvases_[1]->map_rect(0, 0).width(), without);
}

/// Heads run down and layers across in two bands: each map is drawn, hit and selected in its place.
TEST_F(AtlasCanvasTest, FindsArrangedMapsWhereTheyAreDrawn) {
  open(synthetic_trace(
      4, 3, 10, [](auto l, auto h, auto, auto) { return static_cast<float>(3 * l + h + 1) / 12; }));
  link_.arrange({.transposed = true, .layers_a_band = 2, .columns_a_band = 3});
  ViewSettings view;
  view.range_minimum = 0;
  view.range_maximum = 1;
  session_.set_view(view);
  settle();
  AtlasCanvas* canvas = canvases_[0];
  EXPECT_GT(canvas->map_rect(1, 0).left(), canvas->map_rect(0, 0).right()) << "layers across";
  EXPECT_GT(canvas->map_rect(0, 1).top(), canvas->map_rect(0, 0).bottom()) << "heads down";
  EXPECT_EQ(canvas->map_rect(2, 0).left(), canvas->map_rect(0, 0).left()) << "the second band";
  EXPECT_GT(canvas->map_rect(2, 0).top(), canvas->map_rect(0, 2).bottom());
  for (const auto& [layer, head] : {std::pair(0, 2), std::pair(1, 0), std::pair(3, 1)}) {
    const QPointF middle = canvas->map_rect(layer, head).center() + QPointF(3, 3);
    expect_colour(pixel(canvas, middle), (3 * layer + head + 1) / 12.0, "viridis");
    QTest::mouseClick(canvas, Qt::LeftButton, {}, middle.toPoint());
    EXPECT_EQ(session_.selection().layer, layer);
    EXPECT_EQ(session_.selection().head, head);
  }
}

TEST_F(AtlasCanvasTest, ThousandsOfTokensAreTiled) {
  constexpr std::int64_t tokens = 2100;
  open(synthetic_trace(
      1, 1, tokens,
      [](auto, auto, auto q, auto k) { return k == 2000  ? 1.0F
                                              : q < 1050 ? 0.25F
                                                         : 0.5F; }, 0));
  ViewSettings view;
  view.range_minimum = 0;
  view.range_maximum = 1;
  session_.set_view(view);
  settle();
  AtlasCanvas* canvas = canvases_[0];
  const QRectF map = canvas->map_rect(0, 0);
  expect_colour(pixel(canvas, map.topLeft() + QPointF(map.width() / 3, map.height() / 4)), 0.25,
                "viridis");
  expect_colour(pixel(canvas, map.topLeft() + QPointF(map.width() / 3, map.height() * 0.75)), 0.5,
                "viridis");
  // The zoom on the one bright column shows exact values again.
  const QPointF at = cell_square(map, {tokens, tokens}, 1000, 2000).center();
  for (int i = 0; i < 6; ++i) wheel(canvas, at, 3);
  const auto cell = canvas->cell_at(at);
  ASSERT_TRUE(cell);
  QTest::mouseMove(canvas, QPoint(2, 2));
  settle();
  const QRectF column = cell_square(canvas->map_rect(0, 0), {tokens, tokens}, cell->query, 2000);
  ASSERT_GT(column.width(), 2);
  expect_colour(pixel(canvas, {column.center().x(), at.y()}), 1.0, "viridis");
}

TEST_F(AtlasCanvasTest, ShowsANewTraceAndAMessageAfterClosing) {
  open(banded_trace(2, 2, 17), banded_trace(4, 3, 9));
  const SubjectId second = canvases_[1]->subject();
  session_.close(id(0));
  settle();
  EXPECT_EQ(canvases_[1]->subject(), second);
  EXPECT_FALSE(canvases_[1]->map_rect(3, 2).isEmpty());
  EXPECT_TRUE(canvases_[1]->lens_shown()) << "it is the first one now";
  EXPECT_FALSE(canvases_[0]->cell_at(QPointF(canvases_[0]->rect().center())));
}

TEST_F(AtlasCanvasTest, MapsOfOneColourHaveNoSpeckles) {
  // The averaged thumbnail of a fine checkerboard shows its mean and neither of its colours.
  open(synthetic_trace(8, 8, 197,
                       [](auto, auto, auto q, auto k) { return (q + k) % 2 == 0 ? 0.0F : 1.0F; }));
  ViewSettings view;
  view.range_minimum = 0;
  view.range_maximum = 1;
  session_.set_view(view);
  settle();
  const QRectF map = canvases_[0]->map_rect(4, 4);
  ASSERT_LT(map.width(), 100);
  const Colour mean = colour_at(find_colour_map("viridis"), 0.5);
  for (double x = 0.2; x < 0.8; x += 0.1) {
    const QColor seen = pixel(canvases_[0], map.topLeft() + QPointF(x, 1 - x) * map.width());
    EXPECT_NEAR(seen.green(), mean.green, 25);
  }
}

TEST(FontFile, IsReadableAgain) {
  const QByteArray file = font_file(QFont("DejaVu Sans"));
  ASSERT_FALSE(file.isEmpty());
  const QRawFont again(file, 12);
  ASSERT_TRUE(again.isValid());
  EXPECT_EQ(again.glyphIndexesForString("Aa0").size(), 3);
  EXPECT_NE(again.glyphIndexesForString("A").first(), 0U);
}

}  // namespace
}  // namespace attnscope
