// What fits beside what: no panel widens the window, and what is read makes itself room.
#include <QDockWidget>
#include <QScrollArea>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/panels/frame/dock_panel.h"
#include "app/panels/panels.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class Room : public WindowTest {
 protected:
  void open_two_at(int width, int height) {
    window().resize(width, height);
    for (const char* name : {"one.h5", "two.h5"}) {
      session().open(write_sample(name, sample_trace(3, 3, 7, 2)));
    }
    ASSERT_TRUE(wait_until([this] { return session().trace(id(0)) && session().trace(id(1)); }));
    ASSERT_TRUE(wait_until_settled());
  }
  [[nodiscard]] bool open(const char* dock) { return !child<QDockWidget>(dock)->isHidden(); }
};

TEST_F(Room, NoPanelWidensTheWindow) {
  open_two_at(1280, 800);
  session().set_reference(id(0));
  QTest::qWait(50);
  EXPECT_EQ(window().width(), 1280) << "with a reference";
  for (const PanelEntry& entry : panels()) {
    window().show_panel(entry.name);
    ASSERT_TRUE(wait_until_settled()) << entry.name;
    QTest::qWait(50);
    EXPECT_EQ(window().width(), 1280) << entry.name;
    EXPECT_EQ(window().height(), 800) << entry.name;
  }
}

TEST_F(Room, NothingWidensASmallWindow) {
  open_two_at(1180, 768);  // the lessons and the playground need 1175
  for (const PanelEntry& entry : panels()) {
    window().show_panel(entry.name);
    ASSERT_TRUE(wait_until_settled()) << entry.name;
    QTest::qWait(50);
    EXPECT_EQ(window().size(), QSize(1180, 768)) << entry.name;
  }
}

TEST_F(Room, WhatIsReadIsReadWholeInASmallWindow) {
  open_two_at(1024, 768);
  window().show_panel("lessons");
  ASSERT_TRUE(wait_until_settled());
  QTest::qWait(100);
  EXPECT_GE(child<QDockWidget>("lessons")->width(), 400);
  EXPECT_FALSE(open("models"));
  EXPECT_FALSE(open("spectrum"));
  for (const QScrollArea* area : child<QDockWidget>("lessons")->findChildren<QScrollArea*>()) {
    if (!area->isVisible()) continue;
    EXPECT_LE(area->widget()->width(), area->viewport()->width()) << "cut at the right";
  }
  child<QDockWidget>("lessons")->close();
  EXPECT_TRUE(open("models"));
  EXPECT_TRUE(open("spectrum"));
}

TEST_F(Room, TheToolBarLosesWordsBeforeButtons) {
  auto* bar = child<QToolBar>("top_bar");
  for (const int width : {1600, 1280, 1024}) {
    window().resize(width, 768);
    QTest::qWait(50);
    ASSERT_EQ(bar->width(), width);
    int buttons = 0;
    for (const QAction* action : bar->actions()) {
      const QWidget* widget = bar->widgetForAction(const_cast<QAction*>(action));
      if (qobject_cast<const QToolButton*>(widget) == nullptr) continue;
      ++buttons;
      EXPECT_TRUE(widget->isVisible()) << width << ": " << widget->accessibleName().toStdString();
      EXPECT_LE(widget->geometry().right(), width) << widget->accessibleName().toStdString();
    }
    EXPECT_GE(buttons, 5);
  }
}

TEST_F(Room, PresentationKeepsTheSize) {
  window().resize(1600, 1000);
  open_two_at(1600, 1000);
  press(Qt::Key_F2);
  press(Qt::Key_F5);
  QTest::qWait(100);
  EXPECT_EQ(window().size(), QSize(1600, 1000));
}

TEST_F(Room, WhatIsReadTakesTheLeftColumnsPlaceWhereItIsNarrow) {
  open_two_at(1280, 800);
  window().show_panel("lessons");
  EXPECT_FALSE(open("models"));
  EXPECT_FALSE(open("inputs"));
  QTest::qWait(50);
  EXPECT_GE(child<QDockWidget>("lessons")->width(), 400);
  // A second one lies behind a tab: nothing changes until the last is closed.
  window().show_panel("energy");
  child<QDockWidget>("lessons")->close();
  EXPECT_FALSE(open("models"));
  auto* close = window()
                    .findChild<QDockWidget*>("energy")
                    ->titleBarWidget()
                    ->findChildren<QToolButton*>()
                    .back();
  EXPECT_EQ(close->toolTip(), "Close Energy");
  QTest::mouseClick(close, Qt::LeftButton);
  EXPECT_TRUE(open("models"));
  EXPECT_TRUE(open("inputs"));
}

TEST_F(Room, WhatTheUserClosedStaysClosed) {
  open_two_at(1280, 800);
  child<QDockWidget>("inputs")->close();
  window().show_panel("lessons");
  child<QDockWidget>("lessons")->close();
  EXPECT_TRUE(open("models"));
  EXPECT_FALSE(open("inputs"));
}

TEST_F(Room, AWideWindowShowsAllThree) {
  open_two_at(1600, 1000);
  window().show_panel("lessons");
  EXPECT_TRUE(open("models"));
  window().resize(1280, 800);
  EXPECT_FALSE(open("models"));
  window().resize(1600, 1000);
  EXPECT_TRUE(open("models"));
}

class TallPanel : public DockPanel {
 public:
  TallPanel() : DockPanel("Tall") {
    auto* content = new QWidget;
    content->setMinimumSize(600, 900);
    body()->addWidget(content);
  }
};

TEST_F(Room, WhatFindsNoRoomScrolls) {
  TallPanel panel;
  EXPECT_LE(panel.minimumSizeHint().width(), 300);
  EXPECT_LE(panel.minimumSizeHint().height(), 200);
  panel.resize(300, 200);
  panel.show();
  QTest::qWait(50);
  const auto* scroll = panel.findChild<QScrollArea*>();
  ASSERT_NE(scroll, nullptr);
  EXPECT_GE(scroll->widget()->height(), 900);
}

}  // namespace
}  // namespace attnscope
