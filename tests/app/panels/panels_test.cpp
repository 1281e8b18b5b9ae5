// Tests of every panel in the list. A new panel is tested as soon as it is listed.
#include "app/panels/panels.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QDockWidget>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "app/panels/frame/dock_panel.h"
#include "app/widgets/number_slider.h"
#include "core/error.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

class PanelTest : public WindowTest, public testing::WithParamInterface<PanelEntry> {
 protected:
  QDockWidget& dock() { return *child<QDockWidget>(GetParam().name); }
  DockPanel& panel() { return *qobject_cast<DockPanel*>(dock().widget()); }

  /// Sets one control to a value other than `value`; false if it accepts no other.
  bool turn(const std::string& name, const std::string& value) {
    std::vector<std::string> others = {"on", "off", "mean", "selected"};
    const QString shown = QString::fromStdString(value);
    for (const int by : {1, -1})
      others.push_back(QString::number(shown.toDouble() + by).toStdString());
    for (const QComboBox* list : dock().findChildren<QComboBox*>()) {
      for (int i = 0; i < list->count(); ++i) {
        others.push_back(list->itemText(i).toStdString());
        const std::string name = list->itemData(i).toString().toStdString();
        if (!name.empty()) others.push_back(name);
      }
    }
    for (const std::string& other : others) {
      if (other == value) continue;
      panel().restore_settings({{name, other}});
      const ControlValues now = panel().settings();
      const auto found = now.find(name);
      if (found == now.end() || found->second != value) return true;
    }
    return false;
  }
};

TEST_P(PanelTest, OpensShowsItsTitleAndComesToRest) {
  const PanelPlace place = GetParam().place;
  const bool opens = GetParam().opens() && GetParam().has_content == nullptr;
  const auto first = std::ranges::find(panels(), place, &PanelEntry::place);
  const bool is_in_front = opens && std::string(first->name) == GetParam().name;
  EXPECT_EQ(dock().isHidden(), !opens);
  EXPECT_EQ(dock().widget() != nullptr, is_in_front) << "made when it is first seen";
  window().show_panel(GetParam().name);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(dock().isVisible());
  EXPECT_FALSE(panel().title().isEmpty());
  EXPECT_EQ(panel().accessibleName(), panel().title());
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_FALSE(panel().is_behind());
}

TEST_P(PanelTest, IsInTheMenuOfItsGroupAndComesToTheFrontFromThere) {
  const QString menu_text = GetParam().group == PanelGroup::experiments ? "E&xperiments"
                            : GetParam().group == PanelGroup::learn     ? "&Learn"
                                                                        : "&View";
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  QAction* chosen = nullptr;
  int found = 0;
  for (const QAction* menu : window().findChild<QMenuBar*>()->actions()) {
    QList<QAction*> actions = menu->menu()->actions();
    for (const QAction* action : menu->menu()->actions()) {
      if (action->menu() != nullptr) actions << action->menu()->actions();
    }
    for (QAction* action : actions) {
      if (action->text() != dock().windowTitle()) continue;
      EXPECT_EQ(menu->text(), menu_text);
      EXPECT_FALSE(action->isCheckable()) << "a menu never hides a panel";
      chosen = action;
      ++found;
    }
  }
  ASSERT_EQ(found, 1);
  if (!chosen->isEnabled()) {
    EXPECT_NE(GetParam().has_content, nullptr);
    return;
  }
  for (int time = 0; time < 2; ++time) {
    chosen->trigger();
    ASSERT_TRUE(wait_until_settled());
    EXPECT_FALSE(dock().visibleRegion().isEmpty()) << "chosen " << time + 1 << " times";
  }
  EXPECT_EQ(dock().windowTitle(), panel().title());
}

TEST_P(PanelTest, IsClosedByItsButton) {
  window().show_panel(GetParam().name);
  ASSERT_TRUE(wait_until_settled());
  for (QToolButton* button : dock().titleBarWidget()->findChildren<QToolButton*>()) {
    if (button->toolTip() == "Close " + panel().title()) button->click();
  }
  EXPECT_TRUE(dock().isHidden());
}

TEST_P(PanelTest, RestoresItsSettings) {
  window().show_panel(GetParam().name);
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  const ControlValues before = panel().settings();
  bool turned = before.empty();
  for (const auto& [name, value] : before) {
    if (!turn(name, value)) continue;
    turned = true;
    ASSERT_TRUE(wait_until_settled()) << name;
    panel().restore_settings(before);
    ASSERT_TRUE(wait_until_settled()) << name;
    // Only the event loop, which does not run here, deletes controls that a choice replaces.
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    EXPECT_EQ(panel().settings(), before) << name << " was turned";
  }
  EXPECT_TRUE(turned) << "no control could be turned";
}

TEST_P(PanelTest, NamesEveryControlThatSessionsKeep) {
  window().show_panel(GetParam().name);
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  if (panel().settings().empty()) return;
  for (const QWidget* widget : dock().findChildren<QWidget*>()) {
    const auto* const button = qobject_cast<const QAbstractButton*>(widget);
    const bool is_control =
        qobject_cast<const QComboBox*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget) ||
        qobject_cast<const QSlider*>(widget) || qobject_cast<const QLineEdit*>(widget) ||
        (button && button->isCheckable());
    const QWidget* const owner = widget->parentWidget();
    const bool is_part =
        qobject_cast<const NumberSlider*>(owner) || qobject_cast<const QAbstractSpinBox*>(owner);
    if (!is_control || is_part) continue;
    EXPECT_FALSE(widget->objectName().isEmpty())
        << widget->metaObject()->className() << " " << widget->accessibleName().toStdString();
  }
  for (const QMenu* menu : dock().findChildren<QMenu*>()) {
    for (const QAction* action : menu->actions()) {
      EXPECT_FALSE(action->isCheckable() && action->objectName().isEmpty())
          << action->text().toStdString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PanelTest, testing::ValuesIn(panels().begin(), panels().end()),
                         [](const auto& given) {
                           std::string name = given.param.name;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Panels, HaveDifferentNames) {
  std::set<std::string> names;
  for (const PanelEntry& entry : panels()) {
    EXPECT_TRUE(names.insert(entry.name).second);
    for (const PanelPage& page : entry.pages) EXPECT_TRUE(names.insert(page.name).second);
  }
}

TEST_F(WindowTest, AnUnknownPanelIsReportedWithTheKnownOnes) {
  const Error error = refusal_of([&] { window().show_panel("ranking"); });
  for (const PanelEntry& entry : panels()) {
    EXPECT_THAT(error.what(), testing::HasSubstr(entry.name));
  }
}

}  // namespace
}  // namespace attnscope
