// Lessons as a class sees them: steps by clicks, answers revealed, sliders moved.
#include "app/panels/lessons/lessons_panel.h"

#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QPushButton>
#include <fstream>

#include "app/panels/lessons/lesson_view.h"
#include "app/widgets/map_thumbnail.h"
#include "app/widgets/number_slider.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class LessonsTest : public WindowTest {
 protected:
  LessonsPanel& panel() {
    press(Qt::Key_F2);
    return *window().findChild<LessonsPanel*>();
  }
  void click(const char* button) {
    auto* found = child<QPushButton>(button);
    ASSERT_NE(found, nullptr) << button;
    QTest::mouseClick(found, Qt::LeftButton);
  }
};

TEST_F(LessonsTest, AStepOpensTheModelAndSelects) {
  panel();
  click("step_1");
  ASSERT_TRUE(wait_until([this] {
    return !session().subjects().empty() && window().settled() &&
           child<QPushButton>("step_1")->text().contains("Done");
  }));
  ASSERT_EQ(session().subjects().size(), 1U);
  EXPECT_EQ(session().subjects()[0].state, OpenSubject::State::ready);
  EXPECT_EQ(session().subjects()[0].file.stem(), "fashion-softmax");
  EXPECT_TRUE(session().input_locator().ends_with("09_ankle_boot.png"));
}

TEST_F(LessonsTest, AnswersStayHiddenUntilAsked) {
  auto* reveal = panel().findChild<QPushButton*>("reveal");
  ASSERT_NE(reveal, nullptr);
  const auto shown_labels = [&] {
    int count = 0;
    for (const QLabel* label : reveal->parentWidget()->findChildren<QLabel*>()) {
      count += label->isVisibleTo(reveal->parentWidget()) ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(shown_labels(), 1);
  QTest::mouseClick(reveal, Qt::LeftButton);
  EXPECT_EQ(shown_labels(), 2);
  QTest::keyClick(reveal, Qt::Key_Space);
  EXPECT_EQ(shown_labels(), 1);
}

TEST_F(LessonsTest, TheNextLessonComes) {
  auto* chooser = panel().findChild<QComboBox*>("lesson_chooser");
  EXPECT_EQ(chooser->count(), 6);
  click("lesson_next");
  EXPECT_EQ(chooser->currentIndex(), 1);
  EXPECT_NE(child<QWidget>("experiment_variance"), nullptr);
}

TEST_F(LessonsTest, TheoremOneIsDrawnAtEveryWidth) {
  panel().show_lesson(1);
  auto* experiment = child<QWidget>("experiment_variance");
  auto* numbers = child<QLabel>("variance_numbers");
  const QString before = numbers->text();
  experiment->findChild<NumberSlider*>()->set_value(16);
  EXPECT_NE(numbers->text(), before);
  EXPECT_TRUE(numbers->text().contains("16.0"));  // the prediction of Var(q · k)
}

TEST_F(LessonsTest, IdentityRaisesTheRankOfARandomMap) {
  panel().show_lesson(1);
  auto* numbers = child<QLabel>("identity_numbers");
  EXPECT_TRUE(numbers->text().contains("rank of H + I"));
  const QString of_adder = numbers->text();
  child<QComboBox>("identity_source")->setCurrentIndex(1);
  EXPECT_NE(numbers->text(), of_adder);
  child<QComboBox>("identity_source")->setCurrentIndex(3);
  EXPECT_TRUE(numbers->text().isEmpty()) << "nothing is selected yet";
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 3, 1)), "sample");
  EXPECT_TRUE(wait_until([&] { return numbers->text().contains("10"); }));  // of N = 10 tokens
}

TEST_F(LessonsTest, DraggingABarMovesTheImportances) {
  panel().show_lesson(3);
  auto* bars = child<QWidget>("logit_bars");
  auto* map = child<QWidget>("experiment_importance")->findChild<MapThumbnail*>();
  const Matrix before = map->map();
  ASSERT_EQ(before.rows(), 8);
  QTest::mousePress(bars, Qt::LeftButton, Qt::NoModifier, QPoint(bars->width() / 16, 2));
  EXPECT_GT(map->map()(0, 0), before(0, 0));
  EXPECT_FLOAT_EQ(map->map()(0, 0), map->map()(7, 0)) << "global: all rows are the same";
  child<QComboBox>("importance_form")->setCurrentIndex(1);
  EXPECT_FLOAT_EQ(map->map()(0, 0), 1) << "causal: the first token has only itself";
  EXPECT_FLOAT_EQ(map->map()(0, 7), 0);
}

TEST_F(LessonsTest, MoreBitsGiveMoreCodes) {
  panel().show_lesson(4);
  auto* numbers = child<QLabel>("hash_numbers");
  auto* bits = child<QWidget>("experiment_hash")->findChild<NumberSlider*>();
  bits->set_value(1);
  EXPECT_TRUE(numbers->text().contains("at most b + 1 = 2"));
  const QString few = numbers->text();
  bits->set_value(32);
  EXPECT_NE(numbers->text(), few);
}

TEST_F(LessonsTest, ABrokenLessonIsSaidAndTheOthersStay) {
  const std::filesystem::path file = folder() / "mine.md";
  std::ofstream(file) << "# Mine\n```step Do\nfly away\n```\n";
  panel().open_document(file);
  bool told = false;
  for (const QLabel* label : panel().findChildren<QLabel*>()) {
    told |= label->text().contains("fly") && label->isVisible();
  }
  EXPECT_TRUE(told);
  panel().show_lesson(0);
  EXPECT_NE(child<QPushButton>("step_1"), nullptr);
}

}  // namespace
}  // namespace attnscope
