// Lessons under clicks: steps are done, answers revealed and sliders moved.
#include "app/panels/lessons/lessons_panel.h"

#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QTextBrowser>
#include <QToolButton>
#include <fstream>

#include "app/panels/frame/highlight.h"
#include "app/panels/lessons/lesson.h"
#include "app/panels/lessons/lesson_view.h"
#include "app/session/sample_data.h"
#include "app/session/spectrum_store.h"
#include "app/widgets/map_thumbnail.h"
#include "app/widgets/markdown_page.h"
#include "app/widgets/number_slider.h"
#include "app/window/manual_window.h"
#include "tests/app/support/cut_text.h"
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
  const auto shown_pages = [&] {
    int count = 0;
    for (const MarkdownPage* page : reveal->parentWidget()->findChildren<MarkdownPage*>()) {
      count += page->isVisibleTo(reveal->parentWidget()) ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(shown_pages(), 1);
  QTest::mouseClick(reveal, Qt::LeftButton);
  EXPECT_EQ(shown_pages(), 2);
  QTest::keyClick(reveal, Qt::Key_Space);
  EXPECT_EQ(shown_pages(), 1);
}

TEST_F(LessonsTest, TheNextLessonComes) {
  auto* chooser = panel().findChild<QComboBox*>("lesson_chooser");
  EXPECT_EQ(chooser->count(), std::ssize(lesson_names()));
  click("lesson_next");
  EXPECT_EQ(chooser->currentIndex(), 1);
  EXPECT_NE(child<QWidget>("experiment_matrix"), nullptr);
}

TEST_F(LessonsTest, ALessonEndsWithASummaryAndTheNextLesson) {
  LessonsPanel& lessons = panel();
  auto* chooser = lessons.findChild<QComboBox*>("lesson_chooser");
  auto* on = child<QPushButton>("lesson_go_on");
  ASSERT_NE(on, nullptr);
  EXPECT_TRUE(on->accessibleName().endsWith(chooser->itemText(1)));
  on->click();
  EXPECT_TRUE(wait_until([&] { return chooser->currentIndex() == 1; }, 5));
  lessons.show_lesson(chooser->count() - 1);
  ASSERT_TRUE(wait_until([this] { return child<QPushButton>("lesson_go_on") == nullptr; }, 5));
}

TEST_F(LessonsTest, AStepFramesWhatItChangedAndShowsTheCurveOfOneMap) {
  panel();
  click("step_1");
  const auto frames = [this] {
    qsizetype count = 0;
    for (const auto* one : window().findChildren<Highlight*>()) {
      if (one->isVisible()) count += one->frames().size();
    }
    return count;
  };
  EXPECT_TRUE(wait_until([&] { return frames() == 2; }, 30)) << "the selected map, and its panel";
  const auto done = [this] { return child<QPushButton>("step_2")->text().contains("Done"); };
  click("step_2");
  ASSERT_TRUE(wait_until([&] { return done() && frames() == 2; }));
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(child<QToolButton>("spectrum_this_map")->isChecked());
  click("lesson_end");
  EXPECT_TRUE(child<QToolButton>("spectrum_all_maps")->isChecked());
  EXPECT_EQ(frames(), 0);
}

TEST_F(LessonsTest, OpensInItsLayoutAndGivesTheFormerOneBack) {
  EXPECT_TRUE(child<QDockWidget>("models")->isVisible());
  panel();
  EXPECT_FALSE(child<QDockWidget>("models")->isVisible());
  EXPECT_TRUE(child<QDockWidget>("spectrum")->isVisible());
  child<QDockWidget>("lessons")->close();
  EXPECT_TRUE(wait_until([this] { return child<QDockWidget>("models")->isVisible(); }, 5));
  EXPECT_FALSE(child<QDockWidget>("lessons")->isVisible());
}

TEST_F(LessonsTest, TheoremOneIsDrawnAtEveryWidth) {
  panel().show_lesson(2);
  auto* experiment = child<QWidget>("experiment_variance");
  auto* numbers = child<QLabel>("variance_numbers");
  const QString before = numbers->text();
  experiment->findChild<NumberSlider*>()->set_value(16);
  EXPECT_NE(numbers->text(), before);
  EXPECT_TRUE(numbers->text().contains("16.0"));  // the predicted Var(q · k)
}

TEST_F(LessonsTest, IdentityRaisesTheRankOfARandomMap) {
  panel().show_lesson(2);
  auto* numbers = child<QLabel>("identity_numbers");
  EXPECT_TRUE(numbers->text().contains("rank of H + I"));
  const QString of_adder = numbers->text();
  child<QComboBox>("identity_source")->setCurrentIndex(1);
  EXPECT_NE(numbers->text(), of_adder);
  child<QComboBox>("identity_source")->setCurrentIndex(3);
  EXPECT_TRUE(numbers->text().isEmpty()) << "nothing is selected yet";
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 3, 1)), "sample");
  EXPECT_TRUE(wait_until([&] { return numbers->text().contains("10"); }));  // N = 10 tokens
}

TEST_F(LessonsTest, DraggingABarMovesTheImportances) {
  panel().show_lesson(4);
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
  panel().show_lesson(5);
  auto* numbers = child<QLabel>("hash_numbers");
  auto* bits = child<QWidget>("experiment_hash")->findChild<NumberSlider*>();
  bits->set_value(1);
  EXPECT_TRUE(numbers->text().contains("at most b + 1 = 2"));
  const QString few = numbers->text();
  bits->set_value(32);
  EXPECT_NE(numbers->text(), few);
}

TEST_F(LessonsTest, DecomposesAMatrixThatIsDragged) {
  panel().show_lesson(1);
  auto* words = child<QLabel>("matrix_words");
  const auto maps = child<QWidget>("experiment_matrix")->findChildren<MapThumbnail*>();
  ASSERT_EQ(maps.size(), 5);
  EXPECT_TRUE(maps[2]->words().contains("nothing")) << "rank 2: the third row is a mixture";
  // The pieces add up to the matrix, whose squares sum to σ₁² + σ₂² = 9 + 4 + 2.25 + 1.
  EXPECT_NEAR((maps[0]->map() + maps[1]->map())(2, 0), 1.5, 1e-5);
  EXPECT_NEAR((maps[0]->map() + maps[1]->map()).squaredNorm(), 16.25, 1e-4);
  auto* grid = child<QWidget>("matrix_grid");
  const QPoint corner(grid->width() * 5 / 6, grid->height() * 5 / 6);
  QTest::mousePress(grid, Qt::LeftButton, Qt::NoModifier, corner);
  QTest::mouseMove(grid, corner - QPoint(0, grid->height() / 3));
  QTest::mouseRelease(grid, Qt::LeftButton, Qt::NoModifier, corner - QPoint(0, grid->height() / 3));
  EXPECT_FALSE(maps[2]->words().contains("nothing")) << words->text().toStdString();
  child<QComboBox>("matrix_examples")->setCurrentIndex(1);
  EXPECT_TRUE(words->text().contains("100 %")) << "all rows alike: one piece";
}

TEST_F(LessonsTest, APictureIsCutOffLive) {
  panel().show_lesson(1);
  auto* experiment = child<QWidget>("experiment_truncation");
  const auto maps = experiment->findChildren<MapThumbnail*>();
  ASSERT_EQ(maps.size(), 3);
  auto* rank = experiment->findChild<NumberSlider*>();
  rank->set_value(1);
  const double far = (maps[0]->map() - maps[1]->map()).norm();
  rank->set_value(10);
  const double near = (maps[0]->map() - maps[1]->map()).norm();
  EXPECT_LT(near, far / 2);
  rank->set_value(rank->range().maximum);
  EXPECT_LT((maps[0]->map() - maps[1]->map()).norm(), 1e-4);
}

TEST_F(LessonsTest, RanksAreTestedOnTheSampleModels) {
  session().open(sample_models().front().parent_path() / "fashion-softmax.h5");
  session().set_input((sample_inputs().front().parent_path() / "09_ankle_boot.png").string());
  panel().show_lesson(7);
  ASSERT_TRUE(wait_until([this] { return session().trace(id(0)) != nullptr; }));
  auto* null_words = child<QLabel>("null_words");
  ASSERT_TRUE(wait_until([&] { return null_words->text().contains("±"); }, 30))
      << null_words->text().toStdString();
  auto* replaced = child<QLabel>("replaced_words");
  click("replaced_go");
  ASSERT_TRUE(wait_until([&] { return replaced->text().contains("bit"); }, 60))
      << replaced->text().toStdString();
}

TEST_F(LessonsTest, ReportsABrokenLessonAndKeepsTheOthers) {
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

// Ending a lesson restores the models and the threshold of before and keeps models that were opened
// meanwhile.
TEST_F(LessonsTest, RestoresSettingsAfterALesson) {
  const SubjectId mine =
      session().add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 3, 1)), "mine");
  ViewSettings view = session().view();
  view.rank_threshold = 0.8;
  view.colour_map = "magma";
  session().set_view(view);
  panel();
  EXPECT_FALSE(child<QWidget>("lesson_loan")->isVisible());
  click("step_1");
  ASSERT_TRUE(wait_until([this] { return child<QPushButton>("step_1")->text().contains("Done"); }));
  EXPECT_EQ(session().find(mine), nullptr) << "this step closes everything";
  EXPECT_TRUE(child<QWidget>("lesson_loan")->isVisible());
  child<QWidget>("experiment_ranks")->findChild<NumberSlider*>()->set_value(0.97);
  EXPECT_DOUBLE_EQ(session().view().rank_threshold.level, 0.97);
  const SubjectId meanwhile =
      session().add_trace(std::make_shared<const Trace>(sample_trace(1, 1, 3, 1)), "meanwhile");
  click("lesson_end");
  EXPECT_FALSE(child<QWidget>("lesson_loan")->isVisible());
  ASSERT_EQ(session().subjects().size(), 2U);
  EXPECT_EQ(session().subjects()[0].id, mine);
  EXPECT_EQ(session().subjects()[1].id, meanwhile);
  EXPECT_NE(session().trace(mine), nullptr);
  EXPECT_DOUBLE_EQ(session().view().rank_threshold.level, 0.8);
  EXPECT_EQ(session().view().colour_map, "magma");
}

TEST_F(LessonsTest, ClosingThePanelEndsTheLesson) {
  panel();
  child<QWidget>("experiment_ranks")->findChild<NumberSlider*>()->set_value(0.97);
  ASSERT_DOUBLE_EQ(session().view().rank_threshold.level, 0.97);
  auto* dock = child<QDockWidget>("lessons");
  press(Qt::Key_M);  // maximises another panel: the lesson is hidden, not closed
  EXPECT_DOUBLE_EQ(session().view().rank_threshold.level, 0.97);
  press(Qt::Key_M);
  dock->close();
  EXPECT_DOUBLE_EQ(session().view().rank_threshold.level, 0.9);
}

TEST_F(LessonsTest, OneUndoRestoresModelsThatAStepClosed) {
  for (const char* name : {"first", "second"}) {
    session().add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 3, 1)), name);
  }
  panel();
  click("step_1");
  ASSERT_TRUE(wait_until([this] { return child<QPushButton>("step_1")->text().contains("Done"); }));
  for (int steps = 0; steps < 4 && session().subjects().size() != 2; ++steps) {
    press(Qt::Key_Z, Qt::ControlModifier);
  }
  ASSERT_EQ(session().subjects().size(), 2U);
  EXPECT_EQ(session().subjects()[0].subject.label, "first");
}

TEST_F(LessonsTest, ATabThatTheTextSpeaksOfIsOpened) {
  panel();
  window().show_panel("components");
  ASSERT_FALSE(child<QDockWidget>("components")->visibleRegion().isEmpty());
  MarkdownPage* linking = nullptr;
  for (auto* page : panel().findChildren<MarkdownPage*>()) {
    if (page->toHtml().contains("panel:row")) linking = page;
  }
  ASSERT_NE(linking, nullptr);
  emit linking->anchorClicked(QUrl("panel:row"));
  auto* row = child<QDockWidget>("row");
  EXPECT_TRUE(wait_until([&] { return !row->visibleRegion().isEmpty(); }, 5));
}

TEST_F(LessonsTest, APageOfTheManualThatTheTextSpeaksOfIsShown) {
  LessonsPanel& lessons = panel();
  lessons.show_lesson(9);
  MarkdownPage* linking = nullptr;
  for (auto* page : lessons.findChildren<MarkdownPage*>()) {
    if (page->toHtml().contains("manual:papers")) linking = page;
  }
  ASSERT_NE(linking, nullptr);
  emit linking->anchorClicked(QUrl("manual:papers"));
  const auto* const manual = window().findChild<ManualWindow*>();
  ASSERT_NE(manual, nullptr);
  EXPECT_TRUE(manual->isVisible());
  const QListWidgetItem* const page =
      manual->findChild<QListWidget*>("manual_pages")->currentItem();
  EXPECT_EQ(page->data(Qt::UserRole).toString(), "papers");
  EXPECT_TRUE(manual->findChild<QTextBrowser*>("manual_text")
                  ->toPlainText()
                  .contains("cumulative-spectrum"));
}

TEST_F(LessonsTest, FillsTheWindowWithLargeTypeAndGivesItBackForAStep) {
  LessonsPanel& lessons = panel();
  auto* page = lessons.findChild<MarkdownPage*>();
  const double small = page->font().pointSizeF();
  auto* enlarge = child<QDockWidget>("lessons")->findChild<QToolButton*>("enlarge");
  QTest::mouseClick(enlarge, Qt::LeftButton);
  ASSERT_TRUE(wait_until([&] { return lessons.width() > 0.9 * window().width(); }, 5));
  EXPECT_GT(page->font().pointSizeF(), 1.5 * small);
  const int letters = page->width() / page->fontMetrics().averageCharWidth();
  EXPECT_LT(letters, 100) << "a line that can be read";
  EXPECT_TRUE(cut_texts(*lessons.findChild<LessonView*>()->widget()).isEmpty());
  click("step_1");
  EXPECT_TRUE(wait_until([&] { return lessons.width() < 0.6 * window().width(); }, 5));
  EXPECT_DOUBLE_EQ(page->font().pointSizeF(), small);
}

// Truncated text would be misread.
class EveryLessonPage : public WindowTest, public testing::WithParamInterface<int> {};

TEST_P(EveryLessonPage, CutsNoText) {
  SpectrumStore spectra(session());
  LessonsPanel panel(session(), spectra);
  panel.resize(GetParam(), 700);
  panel.show();
  auto* view = panel.findChild<LessonView*>();
  for (int lesson = 0; lesson < std::ssize(lesson_names()); ++lesson) {
    panel.show_lesson(lesson);
    for (auto* reveal : view->findChildren<QPushButton*>("reveal")) reveal->setChecked(true);
    for (int k = 1; auto* skip = view->findChild<QPushButton*>(QString("skip_%1").arg(k)); ++k) {
      skip->click();
      view->findChild<QPushButton*>(QString("compare_%1").arg(k))->click();
    }
    QStringList cut;
    EXPECT_TRUE(wait_until([&] { return (cut = cut_texts(*view->widget())).isEmpty(); }, 3))
        << "lesson " << lesson + 1 << "\n"
        << cut.join("\n").toStdString();
    EXPECT_LE(view->widget()->width(), view->viewport()->width()) << "lesson " << lesson + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, EveryLessonPage, testing::Values(380, 410, 1550));

TEST_F(LessonsTest, EscapeClosesTheManual) {
  press(Qt::Key_F1);
  auto* manual = window().findChild<ManualWindow*>();
  ASSERT_NE(manual, nullptr);
  ASSERT_TRUE(manual->isVisible());
  // The first page names the input that a start without arguments opens.
  EXPECT_EQ(sample_inputs().front().stem(), "00_t_shirt");
  EXPECT_TRUE(manual->findChild<QTextBrowser*>("manual_text")->toPlainText().contains("T-shirt"));
  QTest::keyClick(manual->findChild<QTextBrowser*>("manual_text"), Qt::Key_Escape);
  EXPECT_FALSE(manual->isVisible());
}

}  // namespace
}  // namespace attnscope
