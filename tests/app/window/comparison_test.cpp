// Comparing subjects in the window, by clicks and keys.
#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QTableView>
#include <QToolButton>
#include <gtest/gtest.h>

#include "app/canvas/atlas_canvas.h"
#include "app/panels/models/subject_card.h"
#include "app/session/comparison_store.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

class ComparisonWindowTest : public WindowTest {
 protected:
  void open(int subjects) {
    for (int i = 0; i < subjects; ++i) {
      session().add_trace(std::make_shared<const Trace>(
                              sample_trace(2, 3, 3, 0.5 + i, static_cast<unsigned>(i + 1))),
                          "sample " + std::to_string(i + 1));
    }
    ASSERT_TRUE(wait_until_settled());
  }
  void show_panel() {
    window().show_panel("comparison");
    ASSERT_TRUE(wait_until([this] { return child<QTableView>("comparison_table")->isVisible(); }));
  }
  QTableView& table() { return *child<QTableView>("comparison_table"); }
  QString cell(int row, int column) {
    return table().model()->index(row, column).data().toString();
  }
  bool wait_for_numbers() { return wait_until_settled(); }
};

TEST_F(ComparisonWindowTest, ThePinOnACardMakesItTheReference) {
  open(1);
  EXPECT_FALSE(child<QComboBox>("reference")->isVisible()) << "nothing to compare yet";
  open(1);
  EXPECT_FALSE(child<QComboBox>("comparison_view")->isVisible());
  const auto cards = window().findChildren<SubjectCard*>();
  ASSERT_EQ(cards.size(), 2);
  auto* pin = cards[1]->findChild<QToolButton*>("pin");
  ASSERT_TRUE(pin->isVisible());
  QTest::mouseClick(pin, Qt::LeftButton);
  EXPECT_EQ(session().reference(), id(1));
  EXPECT_EQ(child<QComboBox>("reference")->currentIndex(), 2);
  EXPECT_TRUE(child<QComboBox>("reference")->isVisible());
  EXPECT_TRUE(child<QComboBox>("comparison_view")->isVisible());
  QTest::mouseClick(pin, Qt::LeftButton);
  EXPECT_EQ(session().reference(), SubjectId::none);
}

TEST_F(ComparisonWindowTest, KeysPinBlinkAndShowTheDifference) {
  open(2);
  press(Qt::Key_2);
  press(Qt::Key_P);
  EXPECT_EQ(session().reference(), id(1));
  press(Qt::Key_P);
  EXPECT_EQ(session().reference(), SubjectId::none);
  press(Qt::Key_D);
  EXPECT_EQ(session().reference(), id(0)) << "the first, where none is pinned";
  EXPECT_EQ(session().view().comparison, ComparisonView::difference);
  EXPECT_EQ(child<QComboBox>("comparison_view")->currentIndex(), 1);
  press(Qt::Key_Space);
  EXPECT_TRUE(child<QToolButton>("blink")->isChecked());
  press(Qt::Key_Space);
  EXPECT_FALSE(child<QToolButton>("blink")->isChecked());
  press(Qt::Key_D);
  EXPECT_EQ(session().view().comparison, ComparisonView::maps);
  press(Qt::Key_D);
  press(Qt::Key_R);
  EXPECT_EQ(session().view().comparison, ComparisonView::difference) << "R is for the lens";
}

TEST_F(ComparisonWindowTest, TheBarSetsWhatIsShownAndHow) {
  open(2);
  session().set_reference(id(1));
  auto* reference = child<QComboBox>("reference");
  ASSERT_TRUE(wait_until([&] { return reference->isVisible(); }));
  reference->setFocus();
  QTest::keyClick(reference, Qt::Key_Up);
  EXPECT_EQ(session().reference(), id(0));
  auto* shown = child<QComboBox>("comparison_view");
  shown->setFocus();
  for (int i = 0; i < 4; ++i) QTest::keyClick(shown, Qt::Key_Down);
  EXPECT_EQ(session().view().comparison, ComparisonView::wipe);
  auto* amount = child<QSlider>("comparison_amount");
  ASSERT_TRUE(wait_until([&] { return amount->isVisible(); }));
  amount->setFocus();
  QTest::keyClick(amount, Qt::Key_Right);
  EXPECT_NEAR(session().view().wipe_position, 0.51, 1e-9);
  QTest::keyClick(shown, Qt::Key_Down);
  EXPECT_EQ(session().view().comparison, ComparisonView::overlay);
  QTest::keyClick(amount, Qt::Key_Left);
  EXPECT_NEAR(session().view().overlay_opacity, 0.49, 1e-9);
  QTest::keyClick(shown, Qt::Key_Home);
  EXPECT_TRUE(wait_until([&] { return !amount->isVisible(); }));
  QTest::keyClick(child<QComboBox>("layer_alignment"), Qt::Key_Down);
  EXPECT_EQ(session().view().layer_alignment, LayerAlignment::by_depth);
  QTest::keyClick(child<QCheckBox>("match_heads"), Qt::Key_Space);
  EXPECT_TRUE(session().view().match_heads);
  ASSERT_TRUE(wait_until_settled());
}

TEST_F(ComparisonWindowTest, TheTableHasTheNumbersOfTheAnalysisAndAClickGoesThere) {
  open(3);
  show_panel();
  session().set_reference(id(0));
  show_panel();
  ASSERT_TRUE(wait_for_numbers());
  // Each of the two other models has a total row and, per layer, a mean and three heads.
  ASSERT_EQ(table().model()->rowCount(), 2 * (1 + 2 * 4));
  const SubjectComparison expected =
      compare_traces(*session().trace(id(0)), *session().trace(id(2)), {});
  const int row = 9 + 1 + 4 + 1 + 2;  // model 3, layer 1, head 2
  EXPECT_EQ(cell(row, 0), "3");
  EXPECT_EQ(cell(row, 1), "1");
  EXPECT_EQ(cell(row, 2), "2");
  EXPECT_EQ(cell(row, 3), "1.2");
  EXPECT_EQ(cell(row, 4),
            QString::number(expected.maps[5].values[ComparisonQuantity::divergence], 'f', 3));
  table().scrollTo(table().model()->index(row, 0));
  QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                    table().visualRect(table().model()->index(row, 1)).center());
  EXPECT_EQ(session().selection().subject, id(2));
  EXPECT_EQ(session().selection().layer, 1);
  EXPECT_EQ(session().selection().head, 2);

  table().sortByColumn(4, Qt::DescendingOrder);
  double before = 2;
  for (int i = 0; i < table().model()->rowCount(); ++i) {
    EXPECT_LE(cell(i, 4).toDouble(), before);
    before = cell(i, 4).toDouble();
  }
}

TEST_F(ComparisonWindowTest, ThePanelComparesWithTheFirstModelWhileNoneIsPinned) {
  open(2);
  show_panel();
  ASSERT_TRUE(wait_for_numbers());
  ASSERT_EQ(table().model()->rowCount(), 1 + 2 * 4);
  EXPECT_EQ(cell(0, 0), "2");
  EXPECT_EQ(session().reference(), SubjectId::none) << "the maps stay as they are";
  const QString divergence = cell(0, 4);
  session().set_reference(id(0));
  ASSERT_TRUE(wait_for_numbers());
  EXPECT_EQ(cell(0, 4), divergence);
  session().set_reference(id(1));
  ASSERT_TRUE(wait_for_numbers());
  EXPECT_EQ(cell(0, 0), "1");
}

TEST_F(ComparisonWindowTest, ModelsAreComparedOverADataSet) {
  const std::filesystem::path samples = std::filesystem::path(source_folder()) / "sample_data";
  const std::filesystem::path set =
      std::filesystem::path(source_folder()) / "tests/data/input/grey_set.npz";
  session().set_input((samples / "inputs/09_ankle_boot.png").string());
  window().open_file(samples / "models/fashion-softmax.h5");
  window().open_file(samples / "models/fashion-adder.h5");
  ASSERT_TRUE(wait_until_settled());
  window().show_panel("comparison");
  session().set_reference(id(0));
  ASSERT_TRUE(wait_for_numbers());
  auto* button = child<QPushButton>("compare_over_data_set");
  ASSERT_TRUE(button->isEnabled());
  answer_file_dialog(set);
  QTest::mouseClick(button, Qt::LeftButton);
  auto* agreement = child<QLabel>("agreement");
  ASSERT_TRUE(wait_until([&] { return agreement->text().contains("of 4 items"); }))
      << agreement->text().toStdString();
  EXPECT_TRUE(agreement->text().startsWith("2 predicts as the reference"));
  session().set_reference(id(1));
  EXPECT_FALSE(agreement->text().contains("of 4 items")) << "it was said of another reference";
}

}  // namespace
}  // namespace attnscope
