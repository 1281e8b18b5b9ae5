// A folder of checkpoints in the window: dropped, stepped through by keys, played and exported as
// images.
#include "app/panels/training/checkpoints_page.h"

#include <QDialog>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <variant>
#include <vector>

#include "app/panels/frame/figure_view.h"
#include "app/session/sample_data.h"
#include "app/session/spectrum_store.h"
#include "app/session/training_steps.h"
#include "tests/app/support/small_run.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

class CheckpointsPageTest : public WindowTest {
 protected:
  void open_run(const ParameterValues& more = {}) {
    train_small_run(folder() / "run", 8, more);
    session().set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
    window().open_file(folder() / "run");
    ASSERT_TRUE(wait_until_settled());
  }
  [[nodiscard]] std::string label() { return session().subjects().at(0).subject.label; }
  [[nodiscard]] QSlider& slider() { return *child<QSlider>("over_training_slider"); }
};

TEST_F(CheckpointsPageTest, KeysGoFromStepToStep) {
  open_run();
  EXPECT_TRUE(child<QLabel>("over_training_step")->isVisible()) << "the panel comes to the front";
  EXPECT_EQ(label(), "run, step 8");
  EXPECT_EQ(slider().maximum(), 3);
  press(Qt::Key_Comma);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(label(), "run, step 4");
  EXPECT_EQ(child<QLabel>("over_training_step")->text(), "step 4");
  slider().setValue(0);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(label(), "run, step 0");
  press(Qt::Key_Period);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(label(), "run, step 2");
}

TEST_F(CheckpointsPageTest, PlaysToTheEnd) {
  open_run();
  auto* const play = child<QToolButton>("over_training_play");
  QTest::mouseClick(play, Qt::LeftButton);
  EXPECT_EQ(slider().value(), 0) << "from the beginning";
  ASSERT_TRUE(wait_until([&] { return !play->isChecked(); }));
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(label(), "run, step 8");
}

TEST_F(CheckpointsPageTest, WritesAPictureAStep) {
  open_run();
  const std::filesystem::path pictures = folder() / "pictures";
  std::filesystem::create_directory(pictures);
  window().findChild<CheckpointsPage*>()->write_pictures(pictures);
  ASSERT_TRUE(
      wait_until([this] { return !child<QToolButton>("over_training_play")->isChecked(); }));
  for (const char* const name : {"step-000000.png", "step-000002.png", "step-000008.png"}) {
    const QImage image(QString::fromStdString((pictures / name).string()));
    EXPECT_FALSE(image.isNull()) << name;
  }
  EXPECT_NE(QImage(QString::fromStdString((pictures / "step-000000.png").string())),
            QImage(QString::fromStdString((pictures / "step-000008.png").string())));
}

TEST_F(CheckpointsPageTest, ShrinksMapsOfCoarsePatchesAndKeepsTheSelectionInside) {
  open_run({{"coarse_patch", std::int64_t{28}}, {"coarse_steps", std::int64_t{4}}});
  const auto tokens = [this] {
    const std::shared_ptr<const Trace> trace = session().subjects().at(0).subject.trace;
    return trace ? trace->layers.at(1).implied_map.extent(1) : 0;
  };
  ASSERT_TRUE(wait_until([&] { return tokens() == 50; }));
  Selection selection = session().selection();
  selection.query = 49;
  session().select(selection);
  slider().setValue(2);
  ASSERT_TRUE(wait_until_settled());
  ASSERT_TRUE(wait_until([&] { return tokens() == 2; }));
  EXPECT_EQ(label(), "run, step 4") << "the last on coarse patches";
  EXPECT_LT(session().selection().query, 2);
  slider().setValue(3);
  ASSERT_TRUE(wait_until([&] { return tokens() == 50; }));
}

TEST_F(CheckpointsPageTest, WaitsForTheFirstCheckpointOfAWatchedFolder) {
  train_small_run(folder() / "whole", 8);
  std::filesystem::create_directory(folder() / "empty");
  session().set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
  window().open_document(folder() / "empty");
  QLabel& note = *child<QLabel>("over_training_note");
  EXPECT_TRUE(note.isVisible());
  EXPECT_TRUE(note.text().startsWith("Waiting for the first checkpoint"))
      << note.text().toStdString();
  std::filesystem::copy_file(folder() / "whole/step-000004.h5", folder() / "empty/step-000004.h5");
  ASSERT_TRUE(wait_until([this] { return !session().subjects().empty(); }, 20));
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(label(), "empty, step 4");
  EXPECT_EQ(note.text(), "empty: step 4, 1 of 1");
}

TEST_F(CheckpointsPageTest, AStripHasTheMapOfEveryStep) {
  open_run();
  const std::filesystem::path file = folder() / "strip.svg";
  window().findChild<CheckpointsPage*>()->write_strip(file);
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(file); }));
  const std::string svg = read_bytes(file);
  for (const char* const step : {"step 0", "step 2", "step 4", "step 8"}) {
    EXPECT_NE(svg.find(step), std::string::npos) << step;
  }
}

TEST_F(CheckpointsPageTest, AFilmHasAPictureAStep) {
  open_run();
  const std::filesystem::path file = folder() / "film.png";
  window().findChild<CheckpointsPage*>()->write_film(file);
  ASSERT_TRUE(
      wait_until([this] { return !child<QToolButton>("over_training_play")->isChecked(); }));
  const std::string bytes = read_bytes(file);
  const std::size_t control = bytes.find("acTL");
  ASSERT_NE(control, std::string::npos);
  EXPECT_EQ(bytes.substr(control + 4, 4), std::string("\0\0\0\4", 4)) << "four steps";
  EXPECT_FALSE(QImage(QString::fromStdString(file.string())).isNull());
  EXPECT_NE(child<QLabel>("over_training_note")->text().indexOf("4 steps"), -1);
}

TEST_F(CheckpointsPageTest, AFilmReplacesAFileOnlyOnConfirmation) {
  open_run();
  const std::filesystem::path file = folder() / "film.png";
  std::ofstream(file) << "mine";
  bool asked = false;
  on_dialog([&](QDialog& chooser) {
    on_dialog([&asked](QDialog& question) {
      auto* const box = qobject_cast<QMessageBox*>(&question);
      ASSERT_NE(box, nullptr);
      asked = true;
      box->button(QMessageBox::Cancel)->click();
    });
    auto* const name = chooser.findChild<QLineEdit*>("fileNameEdit");
    ASSERT_NE(name, nullptr);
    name->setText(QString::fromStdString((folder() / "film").string()));
    QTest::keyClick(name, Qt::Key_Return);
  });
  child<QToolButton>("over_training_film")->click();
  EXPECT_TRUE(asked);
  EXPECT_FALSE(child<QToolButton>("over_training_play")->isChecked());
  EXPECT_EQ(read_bytes(file), "mine");
}

TEST_F(CheckpointsPageTest, StepsThroughMapsThatWereSentAndWritesTheirStrip) {
  window().show_panel("over-training");
  auto* const trainings = window().findChild<TrainingSteps*>();
  ASSERT_TRUE(trainings);
  for (unsigned step = 1; step <= 3; ++step) {
    trainings->add("live", 10 * step, std::make_shared<const Trace>(sample_trace(1, 1, 2, step)));
  }
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(label(), "live, step 30");
  auto* const ranks = child<FigureView>("over_training_ranks");
  const auto curve = [ranks] { return std::get<Line>(ranks->figure()->panels.at(0).marks.at(0)); };
  ASSERT_TRUE(wait_until([&] { return ranks->figure() && curve().x.size() == 3; }));
  EXPECT_TRUE(ranks->isVisible());
  EXPECT_EQ(curve().label, "live");
  EXPECT_EQ(curve().x, (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(curve().y.at(0),
            mean_equivalent_rank(spectra_of(sample_trace(1, 1, 2, 1), IdentityView::as_is), 0.9));
  press(Qt::Key_Comma);
  EXPECT_EQ(label(), "live, step 20");
  const std::filesystem::path strip = folder() / "strip.svg";
  window().findChild<CheckpointsPage*>()->write_strip(strip);
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(strip); }));
  for (const char* const name : {"step 10", "step 20", "step 30"}) {
    EXPECT_NE(read_bytes(strip).find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace attnscope
