// The ablation panel: a table of heads over labelled images, and the data that it refuses.
#include "app/panels/ablation/ablation_panel.h"

#include <QComboBox>
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

class AblationPanelTest : public WindowTest {
 protected:
  void show(const char* model, const char* input) {
    const std::filesystem::path samples = sample_data_folder();
    session().set_input((samples / "inputs" / input).string());
    session().open(samples / "models" / model);
    ASSERT_TRUE(wait_until_settled());
    window().show_panel("ablation");
  }
  void ablate() {
    QTest::mouseClick(child<QPushButton>("ablation_start"), Qt::LeftButton);
    ASSERT_TRUE(wait_until_settled());
  }
  [[nodiscard]] QString note() { return child<QLabel>("ablation_note")->text(); }
  [[nodiscard]] const Figure* figure() { return window().findChild<AblationPanel*>()->figure(); }
};

TEST_F(AblationPanelTest, DrawsATableOfAllHeadsOverADataSet) {
  show("fashion-softmax.h5", "09_ankle_boot.png");
  ablate();
  EXPECT_EQ(note(), "Choose a data set with labels.");
  EXPECT_EQ(figure(), nullptr);
  child<QLineEdit>("ablation_data_set")
      ->setText(QString::fromStdString((sample_data_folder() / "inputs/twelve.npz").string()));
  child<QSpinBox>("ablation_count")->setValue(2);
  ablate();
  EXPECT_TRUE(note().startsWith("2 inputs")) << note().toStdString();
  ASSERT_TRUE(wait_until([this] { return figure() != nullptr; }, 20));
  ASSERT_EQ(figure()->panels.size(), 1U);
  const Trace& trace = *session().subjects().front().subject.trace;
  const auto& heat = std::get<HeatMap>(figure()->panels.front().marks.front());
  EXPECT_EQ(heat.rows, std::ssize(trace.layers));
  EXPECT_EQ(heat.columns, trace.heads());
}

TEST_F(AblationPanelTest, RefusesTheMeanMapOfAText) {
  show("shakespeare-softmax.h5", "21_gonzalo.txt");
  QComboBox& by = *child<QComboBox>("ablation_by");
  by.setCurrentIndex(by.findData("mean"));
  ablate();
  EXPECT_TRUE(note().startsWith("Choose a data set")) << note().toStdString();
}

}  // namespace
}  // namespace attnscope
