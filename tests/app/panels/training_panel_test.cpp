// The training panel under clicks: from a preset to curves and maps, paused, stepped and stopped.
#include "app/panels/training/training_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>
#include <algorithm>
#include <gtest/gtest.h>

#include "analysis/figure/figure.h"
#include "analysis/training/run_folder.h"
#include "app/session/sample_data.h"
#include "app/session/training_session.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/number_slider.h"
#include "tests/app/support/layout_faults.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class TrainingPanelTest : public WindowTest {
 protected:
  void show(int steps) {
    session().set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
    ASSERT_TRUE(wait_until_settled());
    window().show_panel("training");
    const QString twelve =
        QString::fromStdString((sample_data_folder() / "inputs/twelve.npz").string());
    child<QLineEdit>("training_data_set")->setText(twelve);
    child<QLineEdit>("training_settings")
        ->setText("depth=2 width=12 batch=4 warm_up=1 test_items=4 probes=1 test_dataset=" +
                  twelve);
    child<QSpinBox>("training_steps")->setValue(steps);
  }
  void click(const char* name) {
    ASSERT_TRUE(child<QPushButton>(name)->isEnabled()) << name;
    QTest::mouseClick(child<QPushButton>(name), Qt::LeftButton);
  }
  [[nodiscard]] TrainingPanel& panel() { return *window().findChild<TrainingPanel*>(); }
  [[nodiscard]] std::int64_t step(std::size_t run) {
    return panel().training().runs().at(run).moment.step;
  }
  /// Labels of the curves in the first panel of the figure.
  [[nodiscard]] std::vector<std::string> curves() {
    std::vector<std::string> names;
    for (const Mark& mark : panel().figure()->panels.front().marks) {
      const auto* const line = std::get_if<Line>(&mark);
      if (line && !line->label.empty()) names.push_back(line->label);
    }
    return names;
  }
};

TEST_F(TrainingPanelTest, APresetLearnsPausesStepsAndStops) {
  show(100000);
  EXPECT_EQ(child<QComboBox>("training_preset")->currentText(), "The Adder paper");
  EXPECT_FALSE(child<QPushButton>("training_step")->isEnabled());
  click("training_start");
  const std::vector<std::string> three = {"softmax", "adder", "adder + I"};
  ASSERT_TRUE(wait_until([&] { return panel().figure() && curves() == three; }))
      << child<QLabel>("training_note")->text().toStdString() << " "
      << panel().training().runs().size() << ": " << testing::PrintToString(curves());
  ASSERT_TRUE(wait_until([this] { return session().trace(id(2)) != nullptr; }));
  const std::shared_ptr<const Trace> before = session().trace(id(0));
  ASSERT_TRUE(wait_until([&] { return session().trace(id(0)) != before; })) << "the atlas follows";
  EXPECT_EQ(child<QPushButton>("training_start")->text(), "Pause");
  click("training_start");
  ASSERT_TRUE(wait_until_settled());
  ASSERT_TRUE(wait_until([this] { return !panel().training().is_running(); }));
  const std::int64_t paused = step(1);
  click("training_step");
  ASSERT_TRUE(wait_until([&] { return step(1) == paused + 1; }));
  child<NumberSlider>("training_rate")->set_value(2);
  ASSERT_TRUE(
      wait_until([this] { return panel().training().runs().front().moment.rate_factor == 2; }));
  click("training_stop");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().subjects().size(), 3U) << "what was learned stays open";
  EXPECT_EQ(curves(), three);
  EXPECT_EQ(child<QPushButton>("training_start")->text(), "Start");
}

TEST_F(TrainingPanelTest, ClosingTheWindowAsksBeforeItLosesTrainings) {
  const auto answer = [this](QMessageBox::StandardButton button) {
    on_dialog([button](QDialog& dialog) {
      auto* const box = qobject_cast<QMessageBox*>(&dialog);
      ASSERT_NE(box, nullptr);
      EXPECT_EQ(box->defaultButton(), box->button(QMessageBox::Cancel));
      LayoutFaults faults;
      faults.look_around(dialog, "the question");
      EXPECT_TRUE(faults.empty()) << faults.report();
      ASSERT_NE(box->button(button), nullptr);
      box->button(button)->click();
    });
  };
  show(100000);
  click("training_start");
  ASSERT_TRUE(wait_until([this] { return panel().training().is_on() && step(0) > 0; }));
  answer(QMessageBox::Cancel);
  EXPECT_FALSE(window().close());
  EXPECT_TRUE(panel().training().is_running());

  std::filesystem::create_directory(folder() / "networks");
  on_dialog([this](QDialog& dialog) {
    answer_file_dialog(folder());
    qobject_cast<QMessageBox*>(&dialog)->button(QMessageBox::Save)->click();
  });
  EXPECT_TRUE(window().close());
  EXPECT_FALSE(panel().training().is_on());
  const std::vector<std::filesystem::path> kept = run_folders_in(folder() / "networks-2");
  ASSERT_EQ(kept.size(), 3U);
  for (const std::filesystem::path& run : kept) {
    EXPECT_TRUE(std::filesystem::exists(RunFolder{run}.state())) << run;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder() / "networks"));

  answer(QMessageBox::Discard);
  EXPECT_TRUE(window().close());
}

TEST_F(TrainingPanelTest, ClosingTheWindowAsksNothingWhereNothingLearns) {
  show(20);
  EXPECT_TRUE(window().close());
}

TEST_F(TrainingPanelTest, ShowsRanksOfEachLayer) {
  show(20);
  click("training_start");
  ASSERT_TRUE(wait_until([this] { return panel().training().is_on() && step(0) == 20; }));
  EXPECT_EQ(panel().figure()->panels.front().legend, LegendPosition::none);
  const auto words = [this] { return child<ElidedLabel>("training_state_1")->full_text(); };
  EXPECT_TRUE(wait_until([&] { return words().contains("step 20 of 20"); }, 5));
  EXPECT_TRUE(words().contains("accuracy") || words().contains("nats")) << words().toStdString();
  for (QToolButton* button : panel().header()->findChildren<QToolButton*>()) {
    if (button->text() == "Rank") QTest::mouseClick(button, Qt::LeftButton);
  }
  ASSERT_TRUE(wait_until_settled());
  const Panel& drawn = panel().figure()->panels.front();
  EXPECT_EQ(drawn.y.label, "equivalent rank of A");
  EXPECT_EQ(drawn.marks.size(), 3U * (2 + 1)) << "two layers and their mean, of three networks";
}

TEST(TrainingLabels, NameTheClassesOfFashionMnist) {
  EXPECT_EQ(labels_for("/usr/share/datasets/fashion-mnist").substr(0, 11), "T-shirt/top");
  EXPECT_EQ(labels_for("data/FashionMNIST/raw").substr(0, 11), "T-shirt/top");
  EXPECT_EQ(labels_for("data/mnist"), "");
}

TEST_F(TrainingPanelTest, ReportsSettingsThatTheRecipeRefuses) {
  show(20);
  child<QLineEdit>("training_settings")->setText("width=13");
  click("training_start");
  EXPECT_TRUE(child<QLabel>("training_note")->text().contains("model_heads"))
      << child<QLabel>("training_note")->text().toStdString();
  child<QLineEdit>("training_settings")->setText("wdith=12");
  click("training_start");
  EXPECT_TRUE(child<QLabel>("training_note")->text().contains("wdith"));
  EXPECT_FALSE(panel().training().is_on());
}

TEST_F(TrainingPanelTest, KeepsNetworksInStepOnRequest) {
  show(100000);
  auto* const in_step = child<QCheckBox>("training_in_step");
  ASSERT_TRUE(in_step->isVisible());
  EXPECT_FALSE(in_step->isChecked());
  in_step->click();
  click("training_start");
  ASSERT_TRUE(wait_until([this] { return panel().training().is_on() && step(0) >= 5; }));
  EXPECT_TRUE(panel().training().keeps_in_step());
  EXPECT_TRUE(in_step->isVisible()) << "it can be changed during training";
  in_step->click();
  EXPECT_FALSE(panel().training().keeps_in_step());
}

TEST_F(TrainingPanelTest, TrainsAtMostFourNetworksSideBySide) {
  show(20);
  auto* const more = child<QToolButton>("training_more");
  ASSERT_TRUE(more->isVisible());
  QTest::mouseClick(more, Qt::LeftButton);
  EXPECT_FALSE(more->isVisible());
  click("training_start");
  ASSERT_TRUE(wait_until([this] { return panel().training().runs().size() == 4; }));
}

TEST_F(TrainingPanelTest, TrainsHeadsOfTwoWidthsSideBySide) {
  show(20);
  auto* const preset = child<QComboBox>("training_preset");
  const int widths = preset->findText("Head width");
  ASSERT_GE(widths, 0);
  preset->setCurrentIndex(widths);
  emit preset->activated(widths);
  EXPECT_EQ(child<QComboBox>("training_mechanism_4")->currentText(), "adder, d = 48");
  child<QSpinBox>("training_steps")->setValue(20);
  click("training_start");
  ASSERT_TRUE(wait_until([this] { return panel().training().runs().size() == 4; }));
  std::vector<std::string> names;
  for (const TrainingSession::Run& run : panel().training().runs()) names.push_back(run.name);
  EXPECT_EQ(names, (std::vector<std::string>{"softmax, d = 4", "adder, d = 4", "softmax, d = 12",
                                             "adder, d = 12"}))
      << "as wide as the settings say";
}

}  // namespace
}  // namespace attnscope
