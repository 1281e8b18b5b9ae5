// Time as an axis, in the window: a folder of checkpoints dropped, scrubbed by keys, played,
// written as pictures.
#include "app/panels/over_training/over_training_panel.h"

#include <QImage>
#include <QLabel>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <gtest/gtest.h>

#include "app/session/sample_data.h"
#include "app/session/training_steps.h"
#include "tests/app/support/small_run.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class OverTrainingPanelTest : public WindowTest {
 protected:
  void open_run() {
    train_small_run(folder() / "run");
    session().set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
    window().open_file(folder() / "run");
    ASSERT_TRUE(wait_until_settled());
  }
  [[nodiscard]] std::string label() { return session().subjects().at(0).subject.label; }
  [[nodiscard]] QSlider& slider() { return *child<QSlider>("over_training_slider"); }
};

TEST_F(OverTrainingPanelTest, KeysGoFromStepToStep) {
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

TEST_F(OverTrainingPanelTest, PlaysToTheEnd) {
  open_run();
  auto* const play = child<QToolButton>("over_training_play");
  QTest::mouseClick(play, Qt::LeftButton);
  EXPECT_EQ(slider().value(), 0) << "from the beginning";
  ASSERT_TRUE(wait_until([&] { return !play->isChecked(); }));
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(label(), "run, step 8");
}

TEST_F(OverTrainingPanelTest, WritesAPictureAStep) {
  open_run();
  const std::filesystem::path pictures = folder() / "pictures";
  std::filesystem::create_directory(pictures);
  window().findChild<OverTrainingPanel*>()->write_pictures(pictures);
  ASSERT_TRUE(
      wait_until([this] { return !child<QToolButton>("over_training_play")->isChecked(); }));
  for (const char* const name : {"step-000000.png", "step-000002.png", "step-000008.png"}) {
    const QImage image(QString::fromStdString((pictures / name).string()));
    EXPECT_FALSE(image.isNull()) << name;
  }
  EXPECT_NE(QImage(QString::fromStdString((pictures / "step-000000.png").string())),
            QImage(QString::fromStdString((pictures / "step-000008.png").string())));
}

}  // namespace
}  // namespace attnscope
