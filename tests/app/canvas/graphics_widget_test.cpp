// Widgets drawn with OpenGL look the same on a card and in software, and draw on request.
#include "app/canvas/graphics_widget.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <QPainter>
#include <QTest>
#include <gtest/gtest.h>

#include "app/canvas/atlas_canvas.h"
#include "tests/app/canvas/atlas_fixture.h"
#include "tests/app/canvas/synthetic_trace.h"

namespace attnscope {
namespace {

using Drawing = GraphicsWidget::Drawing;

/// A blue widget with a red corner of 10 × 10 pixels at the top left.
class Corner : public GraphicsWidget {
 public:
  explicit Corner(QWidget* parent) : GraphicsWidget(parent) {}
  ~Corner() override { end_graphics(); }

  int prepared = 0, drawn = 0, freed = 0;
  QColor over = Qt::green;  ///< colour of the square of 10 × 10 points right of the corner

 protected:
  void prepare_graphics() override {
    ++prepared;
    EXPECT_EQ(QOpenGLContext::currentContext(), context());
  }
  void draw_graphics() override {
    ++drawn;
    QOpenGLFunctions& gl = *context()->functions();
    gl.glDisable(GL_SCISSOR_TEST);
    gl.glClearColor(0, 0, 1, 1);
    gl.glClear(GL_COLOR_BUFFER_BIT);
    gl.glEnable(GL_SCISSOR_TEST);
    gl.glScissor(0, static_cast<int>(height() * devicePixelRatioF()) - 10, 10, 10);
    gl.glClearColor(1, 0, 0, 1);
    gl.glClear(GL_COLOR_BUFFER_BIT);
    gl.glDisable(GL_SCISSOR_TEST);
  }
  void draw_on_top(QPainter& painter) override {
    painter.fillRect(30, 0, 10, 10, Qt::yellow);
    painter.translate(50, 50);  // must not move draw_over
  }
  void draw_over(QPainter& painter) override { painter.fillRect(10, 0, 10, 10, over); }
  void free_graphics() override {
    ++freed;
    EXPECT_EQ(QOpenGLContext::currentContext(), context());
  }
  void lack_graphics() override { FAIL() << "there is a context"; }
};

class GraphicsWidgetTest : public ::testing::TestWithParam<Drawing> {
 protected:
  GraphicsWidgetTest() { GraphicsWidget::draw(GetParam()); }
  ~GraphicsWidgetTest() override { GraphicsWidget::draw(std::nullopt); }

  void SetUp() override {
    corner_ = new Corner(&window_);
    auto* row = new QHBoxLayout(&window_);
    row->addWidget(corner_, 1);
    row->addWidget(&beside_);
    beside_.setFixedWidth(80);
    window_.resize(300, 120);
    window_.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    if (!QTest::qWaitFor([&] { return corner_->drawn > 0; }, 2000)) GTEST_SKIP() << "no OpenGL";
    QTest::qWait(50);
  }

  QWidget window_;
  QLabel beside_{"beside"};
  Corner* corner_ = nullptr;
};

TEST_P(GraphicsWidgetTest, StandsUprightInTheWindowAndByItself) {
  EXPECT_TRUE(corner_->has_context());
  for (const QImage& seen : {corner_->grab_picture(), corner_->grab().toImage()}) {
    EXPECT_EQ(seen.pixelColor(5, 5), QColor(255, 0, 0));
    EXPECT_EQ(seen.pixelColor(5, seen.height() - 5), QColor(0, 0, 255));
    EXPECT_EQ(seen.pixelColor(seen.width() - 5, 5), QColor(0, 0, 255));
    EXPECT_EQ(seen.pixelColor(35, 5), QColor(Qt::yellow));
    EXPECT_EQ(seen.pixelColor(15, 5), QColor(Qt::green));
  }
  const QImage window = window_.grab().toImage();
  EXPECT_EQ(window.pixelColor(corner_->pos() + QPoint(5, 5)), QColor(255, 0, 0));
}

TEST_P(GraphicsWidgetTest, RedrawsOnlyForItsOwnUpdatesAndSizes) {
  const int before = corner_->drawn;
  beside_.setText("another text");
  QTest::qWait(50);
  EXPECT_EQ(corner_->drawn, before) << "what stands beside it is no reason";
  corner_->update();
  EXPECT_TRUE(QTest::qWaitFor([&] { return corner_->drawn > before; }, 1000));
  const int updated = corner_->drawn;
  window_.resize(340, 140);
  EXPECT_TRUE(QTest::qWaitFor([&] { return corner_->drawn > updated; }, 1000));
  EXPECT_EQ(corner_->grab_picture().size(), corner_->size() * corner_->devicePixelRatioF());
  EXPECT_EQ(corner_->prepared, 1);
  EXPECT_EQ(corner_->freed, 0);
}

TEST_P(GraphicsWidgetTest, DrawsOverTheLastPictureInSoftware) {
  corner_->over = Qt::white;
  const int before = corner_->drawn;
  corner_->update_over();
  QTest::qWait(50);
  EXPECT_EQ(corner_->drawn == before, GetParam() == Drawing::in_software);
  for (const QImage& seen : {corner_->grab_picture(), corner_->grab().toImage()}) {
    EXPECT_EQ(seen.pixelColor(15, 5), QColor(Qt::white));
    EXPECT_EQ(seen.pixelColor(5, 5), QColor(255, 0, 0));
    EXPECT_EQ(seen.pixelColor(25, 5), QColor(0, 0, 255));
  }
}

TEST_P(GraphicsWidgetTest, FreesPreparedResourcesBeforePreparingAgain) {
  QWidget other;
  other.resize(200, 200);
  auto* column = new QHBoxLayout(&other);
  column->addWidget(corner_);
  const int before = corner_->drawn;
  other.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&other));
  EXPECT_TRUE(QTest::qWaitFor([&] { return corner_->drawn > before; }, 1000));
  EXPECT_EQ(corner_->prepared, corner_->freed + 1);
  EXPECT_EQ(corner_->grab_picture().pixelColor(5, 5), QColor(255, 0, 0));
}

INSTANTIATE_TEST_SUITE_P(Both, GraphicsWidgetTest,
                         ::testing::Values(Drawing::on_card, Drawing::in_software),
                         [](const auto& drawing) {
                           return drawing.param == Drawing::on_card ? "OnCard" : "InSoftware";
                         });

/// The fixture's atlas, drawn like on a graphics card.
class AtlasOnCardTest : public AtlasCanvasTest {
 protected:
  AtlasOnCardTest() { GraphicsWidget::draw(Drawing::on_card); }
  ~AtlasOnCardTest() override { GraphicsWidget::draw(std::nullopt); }
};

TEST_F(AtlasOnCardTest, TakesTheMouseAndRedraws) {
  open(banded_trace(2, 3, 10));
  const QPointF at = canvases_[0]->map_rect(1, 2).center();
  QTest::mouseClick(
      canvases_[0]->window()->childAt(canvases_[0]->mapTo(canvases_[0]->window(), at.toPoint())),
      Qt::LeftButton, {}, at.toPoint());
  settle();
  EXPECT_EQ(session_.selection().layer, 1);
  EXPECT_EQ(session_.selection().head, 2);
  const QImage before = canvases_[0]->grab_picture();
  ViewSettings view;
  view.colour_map = "magma";
  session_.set_view(view);
  settle();
  const QImage after = canvases_[0]->grab_picture();
  EXPECT_NE(before, after);
}

}  // namespace
}  // namespace attnscope
