// The panel of two inputs: its heat map, clicks, painted cells, and refusals.
#include "app/panels/patching/patching_panel.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <gtest/gtest.h>
#include <variant>

#include "app/panels/patching/patch_grid.h"
#include "app/session/sample_data.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class PatchingPanelTest : public WindowTest {
 protected:
  void open() {
    session().set_input("text:I know what you");
    session().open(sample_data_folder() / "models/shakespeare-softmax.h5");
    ASSERT_TRUE(wait_until_settled());
    window().show_panel("patching");
  }
  void patch_from(const char* text) {
    child<QLineEdit>("patching_from")->setText(text);
    QTest::mouseClick(child<QPushButton>("patching_start"), Qt::LeftButton);
    ASSERT_TRUE(wait_until_settled());
  }
  void choose_part(const char* part) {
    QComboBox& parts = *child<QComboBox>("patching_of");
    parts.setCurrentIndex(parts.findData(part));
  }
  [[nodiscard]] PatchGrid& grid() { return *child<PatchGrid>("patching_grid"); }
  [[nodiscard]] QString note() { return child<QLabel>("patching_note")->text(); }
  [[nodiscard]] QPoint centre(int row, int column) {
    return grid().rectangle({row, column}).center().toPoint();
  }
  void drag_to(int row, int column) {
    const QPoint to = centre(row, column);
    QMouseEvent move(QEvent::MouseMove, to, grid().mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                     {});
    QApplication::sendEvent(&grid(), &move);
  }
};

TEST_F(PatchingPanelTest, SelectsTheMapOfAClickedCell) {
  open();
  patch_from("I know what wou");
  EXPECT_GT(grid().value({3, 0}), 0.1);
  QTest::mouseClick(&grid(), Qt::LeftButton, {}, centre(3, 0));
  EXPECT_EQ(session().selection().layer, 3);
  EXPECT_EQ(session().selection().head, 0);
  EXPECT_TRUE(grid().isVisible()) << "a selection is no change of the input";
}

TEST_F(PatchingPanelTest, PatchesPaintedCellsTogether) {
  open();
  choose_part("residual");
  patch_from("I know what wou");
  EXPECT_NEAR(grid().value({12, 0}), 1, 1e-4) << "the only token that differs";
  QTest::mousePress(&grid(), Qt::LeftButton, {}, centre(12, 4));
  drag_to(13, 4);
  drag_to(14, 4);
  QTest::mouseRelease(&grid(), Qt::LeftButton, {}, centre(14, 4));
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(grid().painted().size(), 3U);
  const QString joint = child<QLabel>("patching_joint")->text();
  EXPECT_TRUE(joint.startsWith("3 cells together: effect 1.000")) << joint.toStdString();
}

TEST_F(PatchingPanelTest, ExportsTheTable) {
  open();
  QToolButton& button = *child<QToolButton>("patching_export");
  EXPECT_FALSE(button.isEnabled());
  choose_part("residual");
  patch_from("I know what wou");
  ASSERT_TRUE(button.isEnabled());
  std::string recipe;
  ParameterValues settings;
  QObject::connect(window().findChild<PatchingPanel*>(), &DockPanel::export_wanted,
                   [&](const std::string& name, const ParameterValues& values,
                       const std::vector<std::size_t>& subjects) {
                     recipe = name;
                     settings = values;
                     EXPECT_EQ(subjects.size(), 1U);
                   });
  on_dialog([](QDialog& dialog) { dialog.reject(); });
  button.click();
  EXPECT_EQ(recipe, "patching");
  EXPECT_EQ(std::get<std::string>(settings.at("of")), "residual");
  EXPECT_EQ(std::get<std::string>(settings.at("from")), "text:I know what wou");
}

TEST_F(PatchingPanelTest, RemovesResultsAtEveryChange) {
  open();
  patch_from("I know what wou");
  EXPECT_TRUE(grid().isVisible());
  child<QLineEdit>("patching_answer")->setText("l");
  EXPECT_FALSE(grid().isVisible());
  patch_from("I know what wou");
  EXPECT_TRUE(grid().isVisible());
  session().set_input("text:I know that you");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_FALSE(grid().isVisible());
}

TEST_F(PatchingPanelTest, NamesBothNumbersOfTokens) {
  open();
  patch_from("I know what would");
  EXPECT_TRUE(note().contains("15 tokens") && note().contains("17 tokens")) << note().toStdString();
  patch_from("");
  EXPECT_TRUE(note().startsWith("Write another text")) << note().toStdString();
}

}  // namespace
}  // namespace attnscope
