// Fixture with atlases side by side, for tests by mouse, keys and pixels.
#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <QHBoxLayout>
#include <QImage>
#include <QTest>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/colour_map.h"
#include "app/canvas/atlas_canvas.h"
#include "app/session/comparison_store.h"
#include "app/session/session.h"

namespace attnscope {

/// Two atlases side by side, like in the window.
class AtlasCanvasTest : public testing::Test {
 protected:
  void open(std::shared_ptr<const Trace> first, std::shared_ptr<const Trace> second = nullptr) {
    session_.add_trace(std::move(first), "one");
    if (second) session_.add_trace(std::move(second), "two");
    auto* row = new QHBoxLayout(&window_);
    row->setContentsMargins(0, 0, 0, 0);
    for (const OpenSubject& open : session_.subjects()) {
      canvases_.push_back(new AtlasCanvas(session_, link_, open.id));
      row->addWidget(canvases_.back(), 1);
    }
    window_.resize(1000, 760);
    window_.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    settle();
    if (!canvases_[0]->has_context()) GTEST_SKIP() << "no OpenGL here; run under xvfb-run";
  }

  void settle() {
    QElapsedTimer timer;
    timer.start();
    do {
      QTest::qWait(20);
    } while (timer.elapsed() < 20000 &&
             !std::all_of(canvases_.begin(), canvases_.end(),
                          [](const AtlasCanvas* canvas) { return canvas->settled(); }));
  }

  QColor pixel(AtlasCanvas* canvas, QPointF at) {
    const QImage image = canvas->grab_picture();
    return image.pixelColor((at * image.devicePixelRatio()).toPoint());
  }

  void open_lens() {
    link_.set_lens_open(true);
    settle();
  }

  void click_lens(const std::string& control) {
    settle();
    const QRectF place = canvases_[0]->lens_control(control);
    ASSERT_FALSE(place.isEmpty()) << control;
    QTest::mouseMove(canvases_[0], place.center().toPoint());
    QTest::qWait(40);
    QTest::mouseClick(canvases_[0], Qt::LeftButton, {}, place.center().toPoint());
    settle();
    QTest::qWait(40);
    settle();
  }

  void wheel(AtlasCanvas* canvas, QPointF at, int steps) {
    QWheelEvent event(at, canvas->mapToGlobal(at), {}, QPoint(0, 120 * steps), Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(canvas, &event);
    settle();
  }

  /// The model at that index, from 0.
  SubjectId id(std::size_t place) const { return session_.subjects().at(place).id; }

  Session session_;
  ComparisonStore comparisons_{session_};
  AtlasLink link_{session_, comparisons_};
  QWidget window_;
  std::vector<AtlasCanvas*> canvases_;
};

inline void expect_colour(const QColor& seen, double fraction, const char* map,
                          bool reversed = false) {
  const Colour expected = colour_at(find_colour_map(map), fraction, reversed);
  EXPECT_NEAR(seen.red(), expected.red, 2);
  EXPECT_NEAR(seen.green(), expected.green, 2);
  EXPECT_NEAR(seen.blue(), expected.blue, 2);
}

}  // namespace attnscope
