#include "app/widgets/wheel_guard.h"

#include <QApplication>
#include <QComboBox>
#include <QScrollArea>
#include <QScrollBar>
#include <QTest>
#include <QVBoxLayout>
#include <QWheelEvent>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

void roll_down(QWidget& over) {
  const QPointF place = over.rect().center();
  QWheelEvent event(place, over.mapToGlobal(place), {0, 0}, {0, -120}, Qt::NoButton, Qt::NoModifier,
                    Qt::NoScrollPhase, false);
  QApplication::sendEvent(&over, &event);
}

TEST(WheelGuard, APageThatScrollsDoesNotTurnItsControls) {
  WheelGuard guard;
  qApp->installEventFilter(&guard);
  QScrollArea area;
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  auto* list = new QComboBox;
  list->addItems({"first", "second", "third"});
  column->addWidget(list);
  page->setMinimumHeight(2000);
  area.setWidget(page);
  area.setWidgetResizable(true);
  area.resize(300, 200);
  area.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&area));
  ASSERT_TRUE(QTest::qWaitFor([&] { return area.verticalScrollBar()->maximum() > 0; }));
  list->clearFocus();
  roll_down(*list);
  EXPECT_EQ(list->currentIndex(), 0);
  EXPECT_GT(area.verticalScrollBar()->value(), 0);
  EXPECT_EQ(list->focusPolicy(), Qt::StrongFocus) << "the wheel gives no focus";
  area.activateWindow();
  list->setFocus();
  const int before = area.verticalScrollBar()->value();
  roll_down(*list);
  EXPECT_EQ(list->currentIndex(), 0) << "nor while it has the focus";
  EXPECT_GT(area.verticalScrollBar()->value(), before);
  page->setMinimumHeight(0);
  ASSERT_TRUE(QTest::qWaitFor([&] { return area.verticalScrollBar()->maximum() == 0; }));
  list->clearFocus();
  roll_down(*list);
  EXPECT_EQ(list->currentIndex(), 0);
  list->setFocus();
  ASSERT_TRUE(QTest::qWaitFor([&] { return list->hasFocus(); }));
  roll_down(*list);
  EXPECT_EQ(list->currentIndex(), 1) << "where nothing scrolls, the focus decides";
}

}  // namespace
}  // namespace attnscope
