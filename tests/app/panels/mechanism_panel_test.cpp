// The dock of what the selected model's mechanism has of its own.
#include "app/panels/mechanism/mechanism_panel.h"

#include <QAction>
#include <QDockWidget>
#include <QToolButton>
#include <gtest/gtest.h>

#include "app/session/sample_data.h"
#include "app/widgets/elided_label.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class MechanismPanelTest : public WindowTest {
 protected:
  void open_sample(const char* model) {
    session().set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
    session().open(sample_data_folder() / "models" / model);
    const std::size_t place = session().subjects().size() - 1;
    ASSERT_TRUE(wait_until([&] { return session().trace(id(place)) != nullptr; }));
    ASSERT_TRUE(wait_until_settled());
  }
  QDockWidget& dock() { return *child<QDockWidget>("mechanism"); }
  QString note() {
    return window()
        .findChild<MechanismPanel*>()
        ->header()
        ->findChild<ElidedLabel*>("panel_note")
        ->full_text();
  }
};

TEST_F(MechanismPanelTest, IsThereOnlyForModelsThatHaveSomething) {
  EXPECT_TRUE(dock().isHidden());
  EXPECT_FALSE(child<QAction>("mechanism")->isEnabled());
  open_sample("fashion-softmax.h5");
  open_sample("fashion-daft-full.h5");
  press(Qt::Key_1);
  ASSERT_TRUE(wait_until([this] { return dock().isHidden(); }));
  press(Qt::Key_2);
  ASSERT_TRUE(wait_until([this] { return !dock().isHidden(); }));
  EXPECT_TRUE(wait_until([this] { return dock().visibleRegion().isEmpty(); }, 5))
      << "it comes behind the panel that is read";
  EXPECT_TRUE(child<QAction>("mechanism")->isEnabled());
  press(Qt::Key_1);
  ASSERT_TRUE(wait_until([this] { return dock().isHidden(); }));
}

TEST_F(MechanismPanelTest, StaysClosedWhenTheUserClosedIt) {
  open_sample("fashion-daft-full.h5");
  ASSERT_TRUE(wait_until([this] { return !dock().isHidden(); }));
  dock().close();
  open_sample("fashion-hash.h5");
  press(Qt::Key_2);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(dock().isHidden());
}

TEST_F(MechanismPanelTest, ComesBackAfterALayout) {
  open_sample("fashion-daft-full.h5");
  ASSERT_TRUE(wait_until([this] { return !dock().isHidden(); }));
  press(Qt::Key_1, Qt::ControlModifier);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(wait_until([this] { return !dock().isHidden(); }, 5));
}

TEST_F(MechanismPanelTest, FollowsTheSelectedModelAndNamesIt) {
  open_sample("fashion-daft-full.h5");
  open_sample("fashion-hash.h5");
  press(Qt::Key_1);
  window().show_panel("mechanism");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(child<QToolButton>("mechanism_position-bias")->isVisible());
  EXPECT_TRUE(child<QToolButton>("mechanism_key-maps")->isVisible());
  EXPECT_FALSE(child<QToolButton>("mechanism_hash-codes")->isVisible());
  EXPECT_EQ(note().toStdString(), "all layers · 1 fashion-daft-full");
  press(Qt::Key_2);
  press(Qt::Key_Down);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_FALSE(child<QToolButton>("mechanism_position-bias")->isVisible());
  EXPECT_EQ(note().toStdString(), "layer 1 · head 0 · 2 fashion-hash");
}

TEST_F(MechanismPanelTest, ShowsTheImportancesOfATextFirst) {
  session().set_input((sample_data_folder() / "inputs/20_prospero.txt").string());
  session().open(sample_data_folder() / "models/shakespeare-fastformer.h5");
  ASSERT_TRUE(wait_until_settled());
  window().show_panel("mechanism");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(note().toStdString(), "layer 0 · head 0 · 1 shakespeare-fastformer");
  EXPECT_FALSE(child<QToolButton>("mechanism_key-maps")->isVisible())
      << "keys of a text are no pictures";
}

TEST_F(MechanismPanelTest, ShowsCodesOfAnyModelOnRequest) {
  open_sample("fashion-softmax.h5");
  EXPECT_TRUE(child<QAction>("hash-codes")->isEnabled());
  child<QAction>("hash-codes")->trigger();
  ASSERT_TRUE(wait_until_settled());
  EXPECT_FALSE(dock().visibleRegion().isEmpty());
  EXPECT_TRUE(child<QToolButton>("learn_codes")->isVisible());
  EXPECT_EQ(note().toStdString(), "layer 0 · head 0 · 1 fashion-softmax");
}

}  // namespace
}  // namespace attnscope
