// User stories from a fresh start, with a count of actions: a click, a key press or a typed text is
// one each.
#include <QComboBox>
#include <QDialog>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTextBrowser>
#include <QToolButton>
#include <filesystem>
#include <gtest/gtest.h>

#include "app/panels/lessons/lessons_panel.h"
#include "app/panels/spectrum/spectrum_panel.h"
#include "app/window/export_dialog.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

const fs::path kSampleFolder = fs::path(source_folder()) / "sample_data";

class Stories : public WindowTest {
 protected:
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    ++done_;
    press(key, modifiers);
  }
  void click(QWidget* widget) {
    ASSERT_TRUE(widget && widget->isVisible() && widget->isEnabled());
    ++done_;
    QTest::mouseClick(widget, Qt::LeftButton);
  }
  /// The visible button with that accessible name in a window or dialog.
  [[nodiscard]] static QAbstractButton* button(const QWidget& of, const QString& name) {
    for (auto* candidate : of.findChildren<QAbstractButton*>()) {
      if (candidate->isVisible() && candidate->accessibleName() == name) return candidate;
    }
    return nullptr;
  }
  /// Presses Ctrl+O, types a file name and presses Enter.
  void open_model(const fs::path& file) {
    answer_file_dialog(file);
    done_ += 2;
    key(Qt::Key_O, Qt::ControlModifier);
  }
  /// Exports the current figure: presses Ctrl+E, types the file's name and clicks the button.
  void export_to(const fs::path& file) {
    on_dialog([this, file](QDialog& dialog) {
      auto* const name = dialog.findChild<QLineEdit*>("export_file");
      auto* const write = dialog.findChild<QPushButton*>("export_write");
      ASSERT_TRUE(name && write);
      name->setText(QString::fromStdString(file.string()));
      ++done_;
      click(write);
      EXPECT_TRUE(wait_until([&] { return fs::exists(file); }))
          << dialog.findChild<QLabel*>("export_problem")->text().toStdString();
      dialog.reject();
    });
    key(Qt::Key_E, Qt::ControlModifier);
  }
  [[nodiscard]] QStringList texts(const char* name) const {
    QStringList list;
    for (const QLabel* label :
         const_cast<Stories*>(this)->window().findChildren<QLabel*>(QLatin1String(name))) {
      if (label->isVisible()) list << label->text();
    }
    return list;
  }

  int done_ = 0;
};

TEST_F(Stories, TheFirstMinuteAnswersWithoutAClick) {
  window().open_samples();
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(texts("prediction").size(), 2);
  const QStringList ranks = texts("mean_ranks");
  ASSERT_EQ(ranks.size(), 2);
  const auto* const spectrum = window().findChild<SpectrumPanel*>();
  ASSERT_TRUE(spectrum && spectrum->figure());
  // The ranks include those of A + I.
  for (const QString& rank : ranks)
    EXPECT_TRUE(rank.contains("+I") || rank.contains("with I")) << rank.toStdString();
  EXPECT_EQ(done_, 0);
  key(Qt::Key_I);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().view().identity, IdentityView::with);
  EXPECT_EQ(done_, 1);
}

TEST_F(Stories, ExportsAnOwnModelInSevenSteps) {
  const fs::path own = folder() / "my-network.h5";
  fs::copy_file(kSampleFolder / "models/fashion-adder.h5", own);
  open_model(own);
  click(button(window(), "Sample input 08 bag"));
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().at(0).state, OpenSubject::State::ready);
  EXPECT_EQ(texts("prediction").size(), 1);
  ASSERT_TRUE(window().findChild<SpectrumPanel*>()->figure());
  export_to(folder() / "maps.pdf");
  EXPECT_GT(fs::file_size(folder() / "maps.pdf"), 1000U);
  EXPECT_EQ(done_, 7);
}

TEST_F(Stories, TwoModelsAreComparedInThirteenSteps) {
  for (const char* name : {"first.h5", "second.h5"}) {
    fs::copy_file(kSampleFolder / "models" /
                      (std::string(name) == "first.h5" ? "fashion-softmax.h5" : "fashion-adder.h5"),
                  folder() / name);
    open_model(folder() / name);
  }
  click(button(window(), "Sample input 08 bag"));
  ASSERT_TRUE(wait_until_settled());
  key(Qt::Key_D);  // makes the first model the reference
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().view().comparison, ComparisonView::difference);
  EXPECT_EQ(session().reference(), id(0));
  key(Qt::Key_Space);  // blink
  key(Qt::Key_Space);
  export_to(folder() / "difference.pdf");
  EXPECT_GT(fs::file_size(folder() / "difference.pdf"), 1000U);
  EXPECT_EQ(done_, 13);
}

TEST_F(Stories, ALessonIsShownLargeAndTheModelsAreRestored) {
  window().open_samples();
  ASSERT_TRUE(wait_until_settled());
  const ViewSettings before = session().view();
  window().show_panel("lessons");  // two clicks in menus: Help, Lessons
  done_ += 2;
  auto* const lessons = window().findChild<LessonsPanel*>();
  ASSERT_TRUE(lessons && lessons->isVisible());
  key(Qt::Key_F5);  // enlarges the text for the last row of a room
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(lessons->isVisible());
  auto* const next = child<QPushButton>("lesson_next");
  const QString first = child<QComboBox>("lesson_chooser")->currentText();
  click(next);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_NE(child<QComboBox>("lesson_chooser")->currentText(), first);
  key(Qt::Key_F5);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().subjects().size(), 2U);
  EXPECT_EQ(session().view().identity, before.identity);
  EXPECT_EQ(done_, 5);
}

}  // namespace
}  // namespace attnscope
