// Every panel and page of the window in front, in turn: no text is cut, nothing is outside its
// parent, covered or scrolls where it should not.
#include <QDockWidget>
#include <QToolButton>
#include <string>

#include "app/panels/panels.h"
#include "app/session/sample_data.h"
#include "app/widgets/segments.h"
#include "tests/app/support/layout_faults.h"
#include "tests/app/support/layout_fixture.h"

namespace attnscope {
namespace {

/// True for a segment button that is seen, or that is in the menu of folded segments.
bool can_be_chosen(const QToolButton& button) {
  if (!button.isCheckable() || !button.isEnabled()) return false;
  const QWidget* const row = button.parentWidget();
  const auto* const folded = dynamic_cast<const Segments*>(row->parentWidget());
  return folded ? folded->isVisible() && !button.isHidden() : button.isVisible();
}

class Layout : public LayoutTest {
 protected:
  void walk(const std::string& panel) {
    window().show_panel(panel);
    rest();
    look_around(QString::fromStdString(panel));
  }

  /// Looks at every panel, its pages, and what each of its segment buttons shows.
  void walk_all() {
    for (const PanelEntry& entry : panels()) {
      walk(entry.name);
      for (const PanelPage& page : entry.pages) walk(page.name);
      auto* const dock = child<QDockWidget>(entry.name);
      QStringList names;
      for (const QToolButton* button : dock->findChildren<QToolButton*>()) {
        if (can_be_chosen(*button) && button->autoExclusive() && !button->isChecked()) {
          names << button->objectName();
        }
      }
      for (const QString& name : names) {
        auto* const button = dock->findChild<QToolButton*>(name);
        if (button == nullptr || !can_be_chosen(*button)) continue;
        button->click();
        rest();
        look_around(QString("%1, %2").arg(entry.name, name));
      }
      if (entry.place == PanelPlace::beside) dock->close();
    }
  }
};

struct Look {
  const char* name;
  QSize size;
  Theme theme = Theme::dark;
  bool presents = false;
};

class LayoutAt : public Layout, public testing::WithParamInterface<Look> {};

TEST_P(LayoutAt, NothingIsCutOrCovered) {
  const Look& look = GetParam();
  window().resize(look.size);
  window().set_theme(look.theme);
  rest();
  open_timm();
  if (look.presents) {
    press(Qt::Key_F5);
    // The screen of the test may have another size.
    window().setWindowState(window().windowState() & ~Qt::WindowFullScreen);
    window().resize(look.size);
    rest();
  }
  walk_all();
  session().set_reference(id(0));
  ViewSettings view = session().view();
  view.comparison = ComparisonView::wipe;
  session().set_view(view);
  press(Qt::Key_L);
  rest();
  look_around("compared, with the lens");
  EXPECT_EQ(window().size(), look.size);
  EXPECT_TRUE(faults_.empty()) << faults_.report();
}

INSTANTIATE_TEST_SUITE_P(Looks, LayoutAt,
                         testing::Values(Look{"small", {1024, 768}}, Look{"usual", {1280, 800}},
                                         Look{"large", {1600, 1000}, Theme::light},
                                         Look{"small_presented", {1024, 768}, Theme::dark, true},
                                         Look{"usual_presented", {1280, 800}, Theme::light, true},
                                         Look{"large_presented", {1600, 1000}, Theme::dark, true}),
                         [](const auto& given) { return std::string(given.param.name); });

TEST_F(Layout, PagesOfEveryMechanismFit) {
  window().resize(1280, 800);
  const auto show = [this](const char* model, const std::string& input) {
    session().set_input(input);
    const std::string file = std::string(model) + ".h5";
    const SubjectId opened = session().open(sample_data_folder() / "models" / file);
    rest();
    session().select_map(opened, 0, 0);
    for (const PanelEntry& entry : panels()) {
      if (entry.group == PanelGroup::experiments || entry.group == PanelGroup::learn) continue;
      walk(entry.name);
      for (const PanelPage& page : entry.pages) walk(page.name);
      if (entry.place == PanelPlace::beside) child<QDockWidget>(entry.name)->close();
    }
    EXPECT_TRUE(faults_.empty()) << model << "\n" << faults_.report();
    session().close(opened);
  };
  const std::string picture = (sample_data_folder() / "inputs/00_t_shirt.png").string();
  show("fashion-daft-full", picture);
  show("fashion-hash", picture);
  show("shakespeare-fastformer", "text:To be, or not to be, that is the question");
}

TEST_F(Layout, AnEmptyWindowFitsAlsoWhenItGrows) {
  for (const QSize size : {QSize(1024, 768), QSize(1600, 1000)}) {
    window().resize(size);
    rest();
    walk_all();
  }
  EXPECT_TRUE(faults_.empty()) << faults_.report();
}

}  // namespace
}  // namespace attnscope
