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
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "app/panels/frame/dock_panel.h"
#include "app/widgets/number_slider.h"
#include "core/error.h"
#include "tests/app/support/window_fixture.h"

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
  const bool opens_closed = place == PanelPlace::beside;
  const auto first = std::ranges::find(panels(), place, &PanelEntry::place);
  const bool is_in_front = !opens_closed && std::string(first->name) == GetParam().name;
  EXPECT_EQ(dock().isHidden(), opens_closed);
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

TEST_P(PanelTest, IsInTheViewMenuAndInHelpIfDeclared) {
  QStringList view, help;
  for (const QAction* menu : window().findChild<QMenuBar*>()->actions()) {
    for (const QAction* action : menu->menu()->findChildren<QAction*>()) {
      (menu->text() == "&Help" ? help : view) << action->text();
    }
    for (const QAction* action : menu->menu()->actions()) {
      if (menu->text() == "&Help") help << action->text();
      if (action->menu() == nullptr) continue;
      for (const QAction* inner : action->menu()->actions()) view << inner->text();
    }
  }
  EXPECT_TRUE(view.contains(dock().windowTitle()));
  EXPECT_EQ(help.contains(dock().windowTitle()), GetParam().in_help);
  window().show_panel(GetParam().name);
  EXPECT_EQ(dock().windowTitle(), panel().title());
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
  for (const PanelEntry& entry : panels()) EXPECT_TRUE(names.insert(entry.name).second);
}

TEST_F(WindowTest, AnUnknownPanelIsReportedWithTheKnownOnes) {
  try {
    window().show_panel("ranking");
    FAIL();
  } catch (const Error& error) {
    for (const PanelEntry& entry : panels()) {
      EXPECT_THAT(error.what(), testing::HasSubstr(entry.name));
    }
  }
}

}  // namespace
}  // namespace attnscope
