// A picture and a question: typed, asked again about another picture, answered, and shown over the
// picture.
#include <QDragEnterEvent>
#include <QLabel>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QToolButton>
#include <QUrl>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/panels/answer/answer_panel.h"
#include "app/panels/frame/highlight.h"
#include "app/panels/row/query_view.h"
#include "app/session/sample_data.h"
#include "core/input/input.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class PictureQuestionsTest : public WindowTest {
 protected:
  /// Opens the model on its picture, with nothing typed yet.
  void open_picture() {
    session().open(model_);
    session().set_input(picture_);
    window().show_panel("inputs");
    window().show_panel("answer");
    ASSERT_TRUE(wait_until_settled());
    field()->setFocus();
  }
  [[nodiscard]] QPlainTextEdit* field() { return child<QPlainTextEdit>("input_text"); }
  /// Types without a pause after it.
  void keys(const char* text) { QTest::keyClicks(field(), text); }
  void type(const char* text) {
    field()->setFocus();
    field()->selectAll();
    keys(text);
    // Typing ends after a pause, which a busy machine may make longer.
    ASSERT_TRUE(QTest::qWaitFor([&] { return session().input_locator().ends_with(text); }, 20'000));
    ASSERT_TRUE(wait_until_settled());
  }
  [[nodiscard]] std::string likeliest() {
    return child<AnswerBars>("answer_bars")->content().rows.at(0).answer.name;
  }

  std::filesystem::path model_ = sample_data_folder() / "models/garment-questions";
  std::string picture_ = (model_ / "question.png").string();
};

TEST_F(PictureQuestionsTest, ATypedQuestionIsAskedAboutThePicture) {
  session().open(model_);
  session().set_input(picture_);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_FALSE(session().trace(id(0))) << "there is no question yet";
  EXPECT_EQ(session().subjects().at(0).state, OpenSubject::State::waiting);
  EXPECT_TRUE(session().subjects().at(0).error.empty());
  window().show_panel("inputs");
  window().show_panel("answer");
  type("where is the bag ?");
  EXPECT_EQ(session().input_locator(), question_locator(picture_, "where is the bag ?"));
  ASSERT_TRUE(session().trace(id(0)));
  EXPECT_THAT(likeliest(), testing::HasSubstr("at"));
  // Another picture keeps the question.
  const std::string other = (sample_data_folder() / "inputs/08_bag.png").string();
  session().set_input(other);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().input_locator(), question_locator(other, "where is the bag ?"));
}

TEST_F(PictureQuestionsTest, ATypedQuestionIsAskedAboutSeveralPictures) {
  ModelOptions longer;
  longer.overrides["context"] = "256";
  session().open(model_, longer);
  const std::string both = picture_ + "+" + (sample_data_folder() / "inputs/08_bag.png").string();
  session().set_input(both);
  ASSERT_TRUE(wait_until_settled());
  window().show_panel("inputs");
  // Pictures that wait for a text are no error.
  EXPECT_THAT(session().input_error(), testing::HasSubstr("with a text about them"));
  EXPECT_TRUE(child<QLabel>("input_detail")->text().startsWith("2 pictures. Ask something"))
      << child<QLabel>("input_detail")->text().toStdString();
  EXPECT_EQ(child<QPlainTextEdit>("input_text")->placeholderText(),
            "Ask something about the 2 pictures");
  window().show_panel("query");
  type("where is the bag ?");
  EXPECT_EQ(session().input_locator(), question_locator(both, "where is the bag ?"));
  ASSERT_TRUE(session().trace(id(0)));
  QTest::qWait(100);
  auto* const view = child<QueryView>("query_view_0");
  ASSERT_EQ(view->picture().layout.pictures.size(), 2U);
  const TokenCells first = view->picture().layout.cells(0),
                   second = view->picture().layout.cells(1);
  // The pictures stand next to each other, and the words are below both or right of both.
  EXPECT_GT(view->place_of(second.first).left(), view->place_of(first.end() - 1).right());
  EXPECT_LE(view->place_of(second.end() - 1).right(), view->width() + 1e-6);
  const QRectF last = view->place_of(second.end() - 1), word = view->place_of(second.end());
  EXPECT_TRUE(word.top() >= last.bottom() || word.left() >= last.right());
  EXPECT_TRUE(view->in_words(second.first + 9).startsWith("picture 2 (1, 1)"));
}

TEST_F(PictureQuestionsTest, PicturesDroppedTogetherAreOneInput) {
  session().open(model_);
  ASSERT_TRUE(wait_until_settled());
  const std::string other = (sample_data_folder() / "inputs/08_bag.png").string();
  QMimeData files;
  files.setUrls({QUrl::fromLocalFile(QString::fromStdString(picture_)),
                 QUrl::fromLocalFile(QString::fromStdString(other))});
  QDragEnterEvent enter({10, 10}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window(), &enter);
  QString shown;
  for (const auto* one : window().findChildren<Highlight*>()) shown += one->text();
  EXPECT_EQ(shown, "Drop to ask something about these 2 pictures");
  QDropEvent drop({10, 10}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window(), &drop);
  EXPECT_EQ(session().input_locator(), picture_ + "+" + other);
}

TEST_F(PictureQuestionsTest, EnterAsksAndTheAnswersWordsAreShown) {
  open_picture();
  keys("where is the bag ?");
  QTest::keyClick(field(), Qt::Key_Return);
  EXPECT_EQ(session().input_locator(), question_locator(picture_, "where is the bag ?"))
      << "Enter does not wait for the pause after typing";
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(field()->toPlainText(), "where is the bag ?") << "Enter begins no line";
  EXPECT_THAT(likeliest(), testing::HasSubstr("at"));
  auto* const more = child<QToolButton>("continue_0");
  ASSERT_TRUE(more->isVisible());
  QTest::mouseClick(more, Qt::LeftButton);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_THAT(field()->toPlainText().toStdString(), testing::HasSubstr("ASSISTANT: at the bottom"));
  const std::vector<std::string>& tokens = session().trace(id(0))->layout.texts;
  EXPECT_THAT(tokens, testing::Contains(testing::HasSubstr("bottom")));
}

TEST_F(PictureQuestionsTest, ShiftAndEnterBeginALine) {
  open_picture();
  keys("where is");
  QTest::keyClick(field(), Qt::Key_Return, Qt::ShiftModifier);
  keys("the bag ?");
  EXPECT_EQ(field()->toPlainText(), "where is\nthe bag ?");
}

TEST_F(PictureQuestionsTest, AnEmptyQuestionAndEscapeDoNothing) {
  open_picture();
  QTest::keyClick(field(), Qt::Key_Return);
  keys("   ");
  QTest::keyClick(field(), Qt::Key_Enter);
  QTest::qWait(500);
  EXPECT_EQ(session().input_locator(), picture_);
  EXPECT_TRUE(session().input_error().empty());
  keys("where is the bag ?");
  QTest::keyClick(field(), Qt::Key_Escape);
  QTest::qWait(500);
  EXPECT_EQ(session().input_locator(), picture_) << "what was typed is not asked";
  EXPECT_TRUE(field()->toPlainText().isEmpty());
  // After a question, Escape restores it.
  type("where is the bag ?");
  keys(" or");
  QTest::keyClick(field(), Qt::Key_Escape);
  QTest::qWait(500);
  EXPECT_EQ(field()->toPlainText(), "where is the bag ?");
  EXPECT_EQ(session().input_locator(), question_locator(picture_, "where is the bag ?"));
}

TEST_F(PictureQuestionsTest, AQuestionThatIsTooLongIsAnErrorAndIsKept) {
  open_picture();
  QString question;
  for (int i = 0; i < 60; ++i) question += "where is the bag ? ";
  field()->insertPlainText(question);
  QTest::keyClick(field(), Qt::Key_Return);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().subjects().at(0).state, OpenSubject::State::failed);
  EXPECT_THAT(session().subjects().at(0).error,
              testing::AllOf(testing::HasSubstr("longer than the context"),
                             testing::HasSubstr("at most 128 tokens")));
  EXPECT_EQ(field()->toPlainText().trimmed(), question.trimmed());
  // A shorter one runs again.
  type("where is the bag ?");
  EXPECT_EQ(session().subjects().at(0).state, OpenSubject::State::ready);
}

TEST_F(PictureQuestionsTest, ARowIsShownOverThePictureAndTheWords) {
  session().set_input(sample_input_for(model_));
  session().open(model_);
  window().show_panel("query");
  ASSERT_TRUE(wait_until_settled());
  QTest::qWait(100);
  auto* const view = child<QueryView>("query_view_0");
  const TokenCells picture = view->picture().layout.cells();
  ASSERT_EQ(picture.count(), 64);
  // The cells tile the picture, and the words are below it or, in a low panel, right of it.
  const QRectF first = view->place_of(picture.first), last = view->place_of(picture.first + 63);
  EXPECT_GT(first.height(), 1);
  EXPECT_NEAR(last.top() - first.top(), 7 * first.height(), 1e-6);
  const QRectF word = view->place_of(picture.first + 64);
  EXPECT_TRUE(word.top() >= last.bottom() || word.left() >= last.right());
  EXPECT_LE(word.bottom(), view->height());
  EXPECT_TRUE(view->in_words(picture.first + 9).startsWith("(1, 1)"));
  // A click on a cell selects its row.
  QTest::mouseClick(view, Qt::LeftButton, {}, first.center().toPoint());
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().selection().query, picture.first);
}

}  // namespace
}  // namespace attnscope
