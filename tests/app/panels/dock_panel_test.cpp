// The message that a panel shows in place of its content.
#include "app/panels/frame/dock_panel.h"

#include <QApplication>
#include <QLabel>
#include <gtest/gtest.h>

#include "app/look/theme.h"

namespace attnscope {
namespace {

class SayingPanel : public DockPanel {
 public:
  SayingPanel() : DockPanel("Saying") {}
  using DockPanel::show_instead;
};

TEST(DockPanelTest, AnErrorHasTheColourOfErrors) {
  apply_theme(*qApp, {});
  SayingPanel panel;
  panel.show_instead("nothing yet");
  panel.show();
  QLabel* said = nullptr;
  for (auto* label : panel.findChildren<QLabel*>()) {
    if (label->text() == "nothing yet") said = label;
  }
  ASSERT_NE(said, nullptr);
  const auto colour = [&] { return said->palette().color(QPalette::WindowText); };
  EXPECT_EQ(colour(), colours_of(panel).muted);
  panel.show_instead("⚠ no such file", true);
  EXPECT_EQ(colour(), colours_of(panel).error);
  panel.show_instead("nothing yet");
  EXPECT_EQ(colour(), colours_of(panel).muted);
}

}  // namespace
}  // namespace attnscope
