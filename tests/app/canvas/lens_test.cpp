// The lens by itself: typed numbers, and screens with another density of pixels.
#include "app/canvas/lens.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "app/canvas/graphics.h"

namespace attnscope {
namespace {

class LensTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_graphics().isEmpty()) GTEST_SKIP() << "no OpenGL here; run under xvfb-run";
    surface_.setFormat(graphics_format());
    surface_.create();
    context_.setFormat(graphics_format());
    ASSERT_TRUE(context_.create() && context_.makeCurrent(&surface_));
    lens_ = std::make_unique<Lens>();
    input_.widget = {800, 600};
    input_.place = QRectF(QPointF(20, 20), Lens::tall_size());
    input_.side = LensSide::right;
    input_.colours = &colours_of(Theme::dark);
    draw(3);
  }

  void draw(int frames = 1) {
    for (int i = 0; i < frames; ++i) {
      input_.view = lens_->draw(input_);
      input_.range.maximum = input_.view.range_maximum.value_or(1);
    }
  }

  void click(QPointF at, QEvent::Type first = QEvent::MouseButtonPress) {
    for (const QEvent::Type type : {first, QEvent::MouseButtonRelease}) {
      const auto buttons = type == first ? Qt::LeftButton : Qt::NoButton;
      EXPECT_TRUE(lens_->mouse(QMouseEvent(type, at, at, Qt::LeftButton, buttons, Qt::NoModifier)));
      draw();
    }
  }

  void press(Qt::Key key, const QString& text = {}) {
    EXPECT_TRUE(lens_->key(QKeyEvent(QEvent::KeyPress, key, Qt::NoModifier, text), true));
    draw();
    lens_->key(QKeyEvent(QEvent::KeyRelease, key, Qt::NoModifier, text), false);
    draw();
  }

  QOffscreenSurface surface_;
  QOpenGLContext context_;
  Lens::Input input_;
  std::unique_ptr<Lens> lens_;  // last: destroyed while the context is current
};

TEST_F(LensTest, TakesATypedNumberAfterADoubleClick) {
  const QPointF field = lens_->control("range/maximum").center();
  click(field);
  click(field);
  EXPECT_FALSE(lens_->typing()) << "Qt tells which clicks are a double click";
  click(field, QEvent::MouseButtonDblClick);
  ASSERT_TRUE(lens_->typing());
  press(Qt::Key_7, "7");
  press(Qt::Key_5, "5");
  press(Qt::Key_Backspace, "\b");
  press(Qt::Key_Enter, "\r");
  draw(3);
  EXPECT_EQ(input_.view.range_maximum, 7.0);
  EXPECT_FALSE(lens_->typing());
}

TEST_F(LensTest, KeepsItsFieldsApartInANarrowAtlas) {
  input_.widget = {150, 700};
  input_.side = LensSide::bottom;
  input_.place = QRectF(QPointF(4, 200), Lens::wide_size(142));
  draw(3);
  const char* const rows[][4] = {{"scale/linear", "scale/log", "scale/symlog", nullptr},
                                 {"heads/each", "heads/mean", "heads/max", "heads/min"},
                                 {"range/minimum", "range/maximum", "range/auto", nullptr}};
  for (const auto& row : rows) {
    double left = input_.place.left();
    for (const char* name : row) {
      if (name == nullptr) continue;
      const QRectF control = lens_->control(name);
      ASSERT_FALSE(control.isEmpty()) << name;
      EXPECT_TRUE(input_.place.contains(control)) << name;
      EXPECT_GE(control.left(), left - 0.5) << name;
      left = control.right();
    }
  }
  EXPECT_LE(lens_->control("class/shown").bottom(), input_.place.bottom());
}

TEST_F(LensTest, MovesToAScreenOfAnotherPixelRatio) {
  const QRectF close = lens_->control("close");
  ASSERT_FALSE(close.isEmpty());
  for (const double ratio : {2.0, 1.0}) {
    input_.pixel_ratio = ratio;
    draw(3);
    const QPointF shift = lens_->control("close").center() - close.center();
    EXPECT_LE(shift.manhattanLength(), 1) << ratio;
    EXPECT_GT(lens_->control("range/maximum").width(), 20) << ratio;
  }
}

}  // namespace
}  // namespace attnscope
