#include "app/panels/groups/groups_panel.h"

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <gtest/gtest.h>

#include "app/panels/frame/text_heat.h"
#include "app/panels/groups/grid_painter.h"
#include "app/session/sample_data.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class GroupsPanelTest : public WindowTest {
 protected:
  void open(const char* model, const std::string& input) {
    session().set_input(input);
    session().open(sample_data_folder() / "models" / model);
    window().show_panel("groups");
    ASSERT_TRUE(wait_until_settled());
  }
  std::string written() { return child<QComboBox>("groups_written")->currentText().toStdString(); }
  void name_group(const char* name) {
    child<QLineEdit>("groups_name")->setText(name);
    child<QPushButton>("groups_add")->click();
    ASSERT_TRUE(wait_until_settled());
  }
  const Figure* figure() { return window().findChild<GroupsPanel*>()->figure(); }
};

TEST_F(GroupsPanelTest, ADragOverTokensMakesAGroup) {
  open("shakespeare-softmax.h5", "text:To be. Or not? Yes");
  ASSERT_NE(figure(), nullptr);
  EXPECT_EQ(figure()->numbers.size(), 3U);  // sentences
  EXPECT_FALSE(child<QPushButton>("groups_add")->isEnabled());
  auto* const text = child<TextHeat>("groups_text");
  const auto drag = [&](std::int64_t first, std::int64_t last) {
    const QPoint from = text->place_of(first).center();
    const QRect end = text->place_of(last);
    QTest::mousePress(text->viewport(), Qt::LeftButton, {}, {from.x() - 2, from.y()});
    QTest::mouseMove(text->viewport(), {end.right() - 1, end.center().y()});
    QTest::mouseRelease(text->viewport(), Qt::LeftButton, {}, {end.right() - 1, end.center().y()});
  };
  drag(0, 4);
  name_group("a");
  EXPECT_EQ(written(), "a=0-4");
  drag(3, 8);
  name_group("b");
  EXPECT_EQ(written(), "a=0-2,b=3-8");
  EXPECT_EQ(figure()->numbers.size(), 2U);
  EXPECT_TRUE(figure()->numbers.contains("share/a"));
  child<QComboBox>("groups_written")->lineEdit()->undo();
  EXPECT_EQ(written(), "a=0-4");
}

TEST_F(GroupsPanelTest, ADragOverPatchesSelectsARectangle) {
  open("fashion-softmax.h5", (sample_data_folder() / "inputs/08_bag.png").string());
  auto* const grid = child<GridPainter>("groups_grid");
  const TokenLayout layout = session().trace(id(0))->layout;
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return grid->place_of(layout.prefix + row * layout.columns + column).center().toPoint();
  };
  QTest::mousePress(grid, Qt::LeftButton, {}, at(1, 1));
  QTest::mouseMove(grid, at(2, 3));
  QTest::mouseRelease(grid, Qt::LeftButton, {}, at(2, 3));
  EXPECT_EQ(grid->selected_tokens().size(), 6U);
  name_group("middle");
  EXPECT_EQ(written(), "middle=16-18+30-32");
  child<QComboBox>("groups_written")->setCurrentText("words");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(child<QComboBox>("groups_written")->isVisible()) << "an error leaves the controls";
  child<QComboBox>("groups_written")->setCurrentText("roles");
  child<QToolButton>("groups_maps")->setChecked(true);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(figure()->name, "group-maps");
}

}  // namespace
}  // namespace attnscope
