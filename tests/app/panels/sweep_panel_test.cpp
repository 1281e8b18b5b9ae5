// The sweep panel under clicks and keys: paths, start, stop, resumption and results.
#include "app/panels/sweep/sweep_panel.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/sweep/sweep.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

const std::string kData = source_folder() + "/tests/data/sweep/";

class SweepPanelTest : public WindowTest {
 protected:
  SweepPanelTest() { window().show_panel("sweep"); }

  SweepPanel& panel() { return *window().findChild<SweepPanel*>(); }
  void type(const char* field, const std::string& text) {
    auto* line = child<QLineEdit>(field);
    line->selectAll();
    QTest::keyClicks(line, QString::fromStdString(text));
    QTest::keyClick(line, Qt::Key_Return);
  }
  void click(const char* button) {
    QTest::mouseClick(child<QAbstractButton>(button), Qt::LeftButton);
  }
  void open_model() {
    session().open(kData + "model.npz", {{{"heads", "2"}, {"crop_fraction", "1"}}, {}});
    ASSERT_TRUE(wait_until_settled());
  }
  std::string note() { return child<QLabel>("sweep_note")->text().toStdString(); }
};

TEST_F(SweepPanelTest, NamesMissingRequirements) {
  click("sweep_start");
  EXPECT_THAT(note(), testing::HasSubstr("Open a model first"));
}

TEST_F(SweepPanelTest, SweepsTheOpenModelsAndDrawsTheResult) {
  open_model();
  const auto out = folder() / "r.h5";
  type("sweep_data_set", kData + "images.npz");
  type("sweep_result", out.string());
  click("sweep_start");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_THAT(note(), testing::HasSubstr("96 inputs, complete"));
  ASSERT_NE(panel().figure(), nullptr);
  EXPECT_EQ(panel().figure()->name, "sweep-spectrum");
  EXPECT_EQ(panel().figure()->numbers.at("maps/model").front(), 96 * 4);
  EXPECT_EQ(read_sweep(out).done, 96);
  click("sweep_view_2");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(panel().figure()->name, "sweep-ranks");
}

TEST_F(SweepPanelTest, StartsOnProposedDataWithoutAFile) {
  EXPECT_FALSE(child<QLineEdit>("sweep_data_set")->text().isEmpty());
  open_model();
  type("sweep_data_set", kData + "images.npz");
  click("sweep_start");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_THAT(note(), testing::HasSubstr("96 inputs, complete"));
  EXPECT_NE(panel().figure(), nullptr);
  click("sweep_start");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_THAT(note(), testing::HasSubstr("96 inputs, complete")) << "a result that is not kept";
}

TEST_F(SweepPanelTest, StopsKeepsAndResumes) {
  // A sample model takes long enough to be stopped.
  session().open(source_folder() + "/sample_data/models/fashion-softmax.h5");
  ASSERT_TRUE(wait_until_settled());
  const auto out = folder() / "r.h5";
  type("sweep_data_set", kData + "images.npz");
  type("sweep_result", out.string());
  click("sweep_start");
  click("sweep_start");  // the button is Stop now
  ASSERT_TRUE(wait_until_settled());
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_THAT(note(), testing::HasSubstr("Cancelled"));
  click("sweep_start");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(std::filesystem::exists(out));
}

TEST_F(SweepPanelTest, AFinishedResultIsShownNotSweptAgain) {
  open_model();
  type("sweep_data_set", kData + "images.npz");
  type("sweep_result", (folder() / "r.h5").string());
  click("sweep_start");
  ASSERT_TRUE(wait_until_settled());
  const auto written = std::filesystem::last_write_time(folder() / "r.h5");
  ASSERT_FALSE(child<QCheckBox>("sweep_restart")->isChecked());
  click("sweep_start");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_THAT(note(), testing::HasSubstr("were complete already"));
  EXPECT_EQ(std::filesystem::last_write_time(folder() / "r.h5"), written);
  QTest::mouseClick(child<QCheckBox>("sweep_restart"), Qt::LeftButton, {}, QPoint(6, 10));
  ASSERT_TRUE(child<QCheckBox>("sweep_restart")->isChecked());
  click("sweep_start");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_THAT(note(), testing::HasSubstr("inputs, complete."));
  EXPECT_FALSE(child<QCheckBox>("sweep_restart")->isChecked());
}

TEST_F(SweepPanelTest, ReportsErrors) {
  open_model();
  type("sweep_data_set", "/nowhere/images.npz");
  type("sweep_result", (folder() / "r.h5").string());
  click("sweep_start");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_THAT(note(), testing::HasSubstr("/nowhere/images.npz"));
}

}  // namespace
}  // namespace attnscope
