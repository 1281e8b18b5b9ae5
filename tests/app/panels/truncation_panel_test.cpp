// The truncation panel: accuracy over labelled images and the data that it refuses.
#include "app/panels/truncation/truncation_panel.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <gtest/gtest.h>

#include "analysis/figure/figure.h"
#include "app/session/sample_data.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class TruncationPanelTest : public WindowTest {
 protected:
  void show(const char* model, const char* input) {
    const std::filesystem::path samples = sample_data_folder();
    session().set_input((samples / "inputs" / input).string());
    session().open(samples / "models" / model);
    ASSERT_TRUE(wait_until_settled());
    window().show_panel("truncation");
  }
  void cut() {
    QTest::mouseClick(child<QPushButton>("truncation_start"), Qt::LeftButton);
    ASSERT_TRUE(wait_until_settled());
  }
  [[nodiscard]] QString note() { return child<QLabel>("truncation_note")->text(); }
  [[nodiscard]] const Figure* figure() { return window().findChild<TruncationPanel*>()->figure(); }
};

TEST_F(TruncationPanelTest, DrawsAccuracyAgainstTheRankOverADataSet) {
  show("fashion-softmax.h5", "09_ankle_boot.png");
  cut();
  EXPECT_EQ(note(), "Choose a data set with labels.");
  EXPECT_EQ(figure(), nullptr);
  child<QLineEdit>("truncation_data_set")
      ->setText(QString::fromStdString((sample_data_folder() / "inputs/twelve.npz").string()));
  child<QSpinBox>("truncation_count")->setValue(4);
  cut();
  EXPECT_TRUE(note().startsWith("4 inputs")) << note().toStdString();
  ASSERT_TRUE(wait_until([this] { return figure() != nullptr; }, 20));
  ASSERT_EQ(figure()->panels.size(), 1U);
  EXPECT_FALSE(figure()->panels.front().marks.empty());
}

TEST_F(TruncationPanelTest, ReportsUnusableData) {
  show("fashion-softmax.h5", "09_ankle_boot.png");
  child<QLineEdit>("truncation_data_set")->setText("/nowhere/images.npz");
  cut();
  EXPECT_TRUE(note().contains("/nowhere/images.npz")) << note().toStdString();
  EXPECT_EQ(child<QPushButton>("truncation_start")->text(), "Truncate") << "it can be tried again";
}

}  // namespace
}  // namespace attnscope
