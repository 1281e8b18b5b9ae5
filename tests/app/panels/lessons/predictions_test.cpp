// Predictions of lessons: kept, compared, saved with the session, and handed in as a sheet.
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

#include "analysis/figure/figure.h"
#include "app/panels/frame/figure_view.h"
#include "app/panels/lessons/lesson.h"
#include "app/panels/lessons/lesson_view.h"
#include "app/panels/lessons/lessons_panel.h"
#include "app/panels/lessons/predictions/lesson_answers.h"
#include "app/panels/lessons/predictions/sheet.h"
#include "app/widgets/number_slider.h"
#include "core/file/mapped_file.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kRankLesson = 9;  // its index in lesson_names()

class PredictionsTest : public WindowTest {
 protected:
  LessonsPanel& rank_lesson() {
    press(Qt::Key_F2);
    auto* lessons = window().findChild<LessonsPanel*>();
    lessons->show_lesson(kRankLesson);
    return *lessons;
  }
  void click(const char* button) {
    auto* found = child<QPushButton>(button);
    ASSERT_NE(found, nullptr) << button;
    ASSERT_TRUE(found->isEnabled()) << button;
    found->click();
  }
  /// Answers the lesson's second prediction with 6, and measures 1.
  void do_second_step() {
    click("skip_1");
    click("compare_1");
    child<QLineEdit>("prediction_2_1")->setText("6");
    click("keep_2");
    child<NumberSlider>("equal_rows_share")->set_value(1);
    QCoreApplication::processEvents();  // the experiment is laid out
    click("compare_2");
  }
};

TEST_F(PredictionsTest, NothingIsShownBeforeThePredictionIsKept) {
  const LessonsPanel& lessons = rank_lesson();
  auto* step = child<QPushButton>("step_1");
  ASSERT_NE(step, nullptr);
  EXPECT_FALSE(step->isVisibleTo(&lessons));
  auto* keep = child<QPushButton>("keep_1");
  EXPECT_FALSE(keep->isEnabled()) << "nothing is answered";
  child<QComboBox>("prediction_1_1")->setCurrentIndex(2);
  EXPECT_FALSE(keep->isEnabled()) << "one of two is answered";
  child<QComboBox>("prediction_1_2")->setCurrentIndex(1);
  click("keep_1");
  EXPECT_TRUE(step->isVisibleTo(&lessons));
  EXPECT_FALSE(child<QComboBox>("prediction_1_1")->isEnabled());
  EXPECT_FALSE(child<QPushButton>("keep_2")->isVisibleTo(&lessons)) << "the first comes first";
  const PredictionAnswer& answer = lessons.answers().predictions.at(0);
  EXPECT_TRUE(answer.kept);
  EXPECT_FALSE(answer.compared);
  EXPECT_EQ(answer.said.at(0), "at the boot");
}

TEST_F(PredictionsTest, ShowsTheObservationNextToThePrediction) {
  const LessonsPanel& lessons = rank_lesson();
  do_second_step();
  const auto* table = child<QLabel>("seen_table_2");
  EXPECT_TRUE(table->isVisibleTo(&lessons));
  EXPECT_TRUE(table->text().contains("You said: <b>6</b>"));
  EXPECT_TRUE(table->text().contains("Seen: <b>1</b>"));
  EXPECT_NE(table->property("role").toString(), "error") << "a wrong one is not red";
  const PredictionAnswer& answer = lessons.answers().predictions.at(1);
  EXPECT_EQ(answer.seen.at(0), "1");
  EXPECT_THAT(answer.numbers, HasSubstr("different outputs"));
  EXPECT_THAT(answer.where, HasSubstr("0.9"));
  ASSERT_FALSE(answer.pictures.empty());
  EXPECT_TRUE(answer.pictures.front().starts_with("\x89PNG"));
  EXPECT_TRUE(child<QPushButton>("keep_3")->isVisibleTo(&lessons));
}

TEST_F(PredictionsTest, AReadingThatIsMissingIsReadAgain) {
  const LessonsPanel& lessons = rank_lesson();
  click("skip_1");
  click("compare_1");
  click("skip_2");
  click("compare_2");
  EXPECT_TRUE(child<QLabel>("seen_table_2")->text().contains("not measured"));
  child<NumberSlider>("equal_rows_share")->set_value(1);
  click("compare_2");
  EXPECT_TRUE(child<QLabel>("seen_table_2")->text().contains("Seen: <b>1</b>"));
  EXPECT_TRUE(child<QLabel>("seen_table_2")->text().contains("You said: <b>nothing</b>"));
  EXPECT_TRUE(lessons.answers().predictions.at(1).said.at(0).empty());
}

TEST_F(PredictionsTest, KnownMapsAreMeasuredOneByOne) {
  rank_lesson();
  auto* map = child<QComboBox>("known_map");
  for (int i = 0; i < map->count(); ++i) {
    map->setCurrentIndex(i);
    click("known_draw");
  }
  const QString words = child<QLabel>("known_words")->text();
  EXPECT_EQ(words.count("<b>178</b>"), 2);
  EXPECT_EQ(words.count("<b>1</b>"), 2);
  EXPECT_TRUE(words.contains("<b>65</b>"));
  click("known_clear");
  EXPECT_FALSE(child<QLabel>("known_words")->text().contains("178"));
}

TEST_F(PredictionsTest, RandomTokensCrossBetween16And32) {
  rank_lesson();
  click("random_tokens_every");
  ASSERT_TRUE(wait_until(
      [this] { return child<QLabel>("random_tokens_words")->text().contains("<td>64"); }, 240));
  const QVariantMap readings =
      child<QWidget>("experiment_random_tokens")->property("readings").toMap();
  EXPECT_TRUE(readings["crossing"].toString().contains("between d = 16 and 32"));
  EXPECT_TRUE(readings["higher-at-64"].toString().startsWith("softmax"));
  EXPECT_TRUE(readings["higher-at-16"].toString().startsWith("adder"));

  // The curves have the numbers of the table.
  const auto* const plot = child<FigureView>("random_tokens_plot");
  ASSERT_NE(plot->figure(), nullptr);
  const std::vector<Mark>& marks = plot->figure()->panels.at(0).marks;
  ASSERT_EQ(marks.size(), 3U);
  const auto &softmax = std::get<Line>(marks[0]), &adder = std::get<Line>(marks[1]),
             &bound = std::get<Line>(marks[2]);
  EXPECT_EQ(bound.x, (std::vector<double>{4, 8, 16, 32, 64}));
  EXPECT_EQ(bound.y, bound.x);
  EXPECT_EQ(softmax.x, bound.x);
  EXPECT_EQ(adder.x, bound.x);
  QString table = child<QLabel>("random_tokens_words")->text();
  table.remove("<b>").remove("</b>");
  const auto cell = [](double rank) {
    return QString("<td align=right>%1&nbsp;&nbsp;</td>").arg(rank, 0, 'f', 1);
  };
  for (std::size_t i = 0; i < bound.x.size(); ++i) {
    const QString row = QString("<td>%1&nbsp;&nbsp;</td><td>0.8&nbsp;&nbsp;</td>%2%3")
                            .arg(bound.x[i])
                            .arg(cell(softmax.y[i]), cell(adder.y[i]));
    EXPECT_TRUE(table.contains(row)) << row.toStdString() << table.toStdString();
  }
}

TEST_F(PredictionsTest, AnswersOutliveOtherLessonsAndSavedSessionsUntilTheRestart) {
  LessonsPanel& lessons = rank_lesson();
  const int index = kRankLesson;
  do_second_step();
  child<QLineEdit>("student_name")->setText("Mei");
  lessons.show_lesson(0);
  lessons.show_lesson(index);
  EXPECT_EQ(child<QLineEdit>("prediction_2_1")->text(), "6");
  EXPECT_TRUE(child<QLabel>("seen_table_2")->isVisibleTo(&lessons));
  const ControlValues saved = lessons.settings();
  const LessonAnswers before = lessons.answers();

  on_dialog([](QDialog& dialog) {
    qobject_cast<QMessageBox*>(&dialog)->button(QMessageBox::Yes)->click();
  });
  click("restart_lesson");
  ASSERT_TRUE(wait_until([&] { return lessons.answers().student.empty(); }, 5));
  EXPECT_EQ(child<QLineEdit>("prediction_2_1")->text(), "");
  EXPECT_FALSE(child<QLineEdit>("prediction_2_1")->isVisibleTo(&lessons));

  lessons.restore_settings(saved);
  EXPECT_EQ(lessons.answers().student, "Mei");
  ASSERT_EQ(lessons.answers().predictions.size(), before.predictions.size());
  EXPECT_EQ(lessons.answers().predictions[1].said, before.predictions[1].said);
  EXPECT_EQ(lessons.answers().predictions[1].seen, before.predictions[1].seen);
  EXPECT_EQ(lessons.answers().predictions[1].pictures, before.predictions[1].pictures);
  EXPECT_TRUE(child<QLabel>("seen_table_2")->isVisibleTo(&lessons));
}

TEST_F(PredictionsTest, TheSheetIsSavedAsOneFile) {
  rank_lesson();
  do_second_step();
  child<QLineEdit>("student_name")->setText("Mei <Lin>");
  answer_file_dialog(folder() / "sheet");
  click("save_sheet");
  std::ifstream file(folder() / "sheet.html");
  std::ostringstream html;
  html << file.rdbuf();
  EXPECT_THAT(html.str(), HasSubstr("Mei &lt;Lin&gt;"));
  EXPECT_THAT(html.str(), HasSubstr("2. What does a row do?"));
  EXPECT_THAT(html.str(), HasSubstr("<td>6</td><td>1</td>"));
  EXPECT_TRUE(child<QLabel>("sheet_outcome")->text().contains("sheet.html"));
}

TEST_F(PredictionsTest, TheSheetReplacesAFileOnlyOnConfirmationAndNeverOneThatWasRead) {
  rank_lesson();
  const std::filesystem::path file = folder() / "mine.html";
  std::ofstream(file) << "mine";
  const auto save = [&](QMessageBox::StandardButton answer) {
    on_dialog([&, answer](QDialog& chooser) {
      on_dialog([answer](QDialog& question) {
        auto* const box = qobject_cast<QMessageBox*>(&question);
        ASSERT_NE(box, nullptr);
        box->button(answer)->click();
      });
      auto* const name = chooser.findChild<QLineEdit*>("fileNameEdit");
      ASSERT_NE(name, nullptr);
      name->setText(QString::fromStdString(file.string()));
      QTest::keyClick(name, Qt::Key_Return);
    });
    click("save_sheet");
    std::ifstream stream(file);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  EXPECT_EQ(save(QMessageBox::Cancel), "mine");
  const auto read = MappedFile::open(file);
  EXPECT_EQ(save(QMessageBox::Yes), "mine");
  EXPECT_TRUE(child<QLabel>("sheet_outcome")->text().startsWith("⚠"));
}

TEST_F(PredictionsTest, OrdersTheOpenModelsByTheirMeanRanks) {
  press(Qt::Key_F2);
  auto* lessons = window().findChild<LessonsPanel*>();
  const std::filesystem::path file = folder() / "order.md";
  std::ofstream(file) << "# Order\n```prediction Q\nchoice a | b: Highest => @ranked-1\n"
                         "choice a | b: Lowest => @ranked-2\nchoice a | b: None => @ranked-3\n"
                         "```\n```step Open both\nclose\nplain\nopen fashion-softmax\n"
                         "open fashion-adder\ninput 08_bag.png\n```\n```seen\n```\n";
  lessons->open_document(file);
  click("skip_1");
  click("step_1");
  ASSERT_TRUE(wait_until_settled());
  click("compare_1");
  const PredictionAnswer& answer = lessons->answers().predictions.at(0);
  EXPECT_THAT(answer.seen.at(0), testing::StartsWith("fashion-adder ("));
  EXPECT_THAT(answer.seen.at(1), testing::StartsWith("fashion-softmax ("));
  EXPECT_EQ(answer.seen.at(2), "") << "only two are open";
}

TEST_F(PredictionsTest, ALessonThatComparesWithAnUnknownNumberIsRefused) {
  press(Qt::Key_F2);
  auto* lessons = window().findChild<LessonsPanel*>();
  const std::filesystem::path file = folder() / "mine.md";
  std::ofstream(file) << "# Mine\n```prediction Q\nnumber 1 to 9: A => @rnk\n```\n```seen\n```\n";
  lessons->open_document(file);
  QString said;
  for (const QLabel* label : lessons->findChildren<QLabel*>()) {
    if (label->text().startsWith("⚠")) said = label->text();
  }
  EXPECT_TRUE(said.contains("rnk")) << said.toStdString();
  EXPECT_TRUE(said.contains("line 2")) << said.toStdString();
}

TEST(LessonAnswers, AreReadBackAsTheyWere) {
  AllAnswers answers;
  LessonAnswers& own = answers["a.md"];
  own.student = "Ä \"b\" \n";
  own.fit({2, 1});
  own.predictions[0] = {{"1", ""}, {"x", "y"}, true, true, "model", "a\tb", {"\x89PNG\r\n"}};
  const AllAnswers read = answers_of_text(answers_as_text(answers));
  ASSERT_TRUE(read.contains("a.md"));
  EXPECT_EQ(read.at("a.md").student, own.student);
  const PredictionAnswer& first = read.at("a.md").predictions.at(0);
  EXPECT_EQ(first.said, own.predictions[0].said);
  EXPECT_EQ(first.seen, own.predictions[0].seen);
  EXPECT_EQ(first.pictures, own.predictions[0].pictures);
  EXPECT_TRUE(first.kept && first.compared);
  EXPECT_EQ(first.where, "model");
  EXPECT_EQ(first.numbers, "a\tb");
  EXPECT_EQ(answers_as_text({}), "");
  AllAnswers untouched;
  untouched["a.md"].fit({2, 1});
  EXPECT_EQ(answers_as_text(untouched), "") << "the lesson was only looked at";
  for (const char* text : {"", "{", "[1]", R"({"a": 3})", R"({"a": {"predictions": [4]}})"}) {
    EXPECT_NO_THROW((void)answers_of_text(text)) << text;
  }
}

TEST(Sheet, HoldsEverythingEscapedInOneFile) {
  Sheet sheet{"Rank <1>", "<script>alert(\"x\")</script>", "2026-11-27", "attnscope 1 & 2", {}};
  const auto fields = parse_prediction(
      "choice a | b: Is A < B? => @rank\nnumber 1 to 9: How many? => 7\ntext: Words\n", 1);
  SheetStep step{"1. <Maps>", "What & why?", fields, {}};
  step.answer.said = {"a & b", "", "One.\n<b>Two</b>"};
  step.answer.seen = {"14 of 197", ""};
  step.answer.where = "fashion<softmax, layer 3";
  step.answer.numbers = "rank <r>\t14\nlast";
  step.answer.pictures = {"\x89PNG-bytes"};
  step.answer.compared = true;
  sheet.steps = {step, step};
  const std::string html = sheet_as_html(sheet);
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
  EXPECT_THAT(html, Not(HasSubstr("<b>Two</b>")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&quot;x&quot;)"));
  EXPECT_THAT(html, HasSubstr("Is A &lt; B?</th><td>a &amp; b</td><td>14 of 197</td>"));
  EXPECT_THAT(html, HasSubstr("How many?</th><td>–</td><td>–</td>"));
  EXPECT_THAT(html, HasSubstr("<td>rank &lt;r&gt;</td><td>14</td>"));
  EXPECT_THAT(html, HasSubstr("fashion&lt;softmax, layer 3"));
  EXPECT_THAT(html, HasSubstr("src=\"data:image/png;base64,iVBORy1ieXRlcw==\""));
  EXPECT_THAT(html, HasSubstr("@media print"));
  EXPECT_THAT(html, Not(HasSubstr("http")));
  // Two predictions of one step have one heading.
  EXPECT_EQ(html.find("<h2>"), html.rfind("<h2>"));
}

}  // namespace
}  // namespace attnscope
