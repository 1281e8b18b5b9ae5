// The energy panel under clicks and keys: views, lists, sliders, measurement and export.
#include "app/panels/energy/energy_panel.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSlider>
#include <QTableWidget>
#include <QToolButton>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "tests/app/support/window_fixture.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

class EnergyPanelTest : public WindowTest {
 protected:
  EnergyPanelTest() { window().show_panel("energy"); }

  EnergyPanel& panel() { return *window().findChild<EnergyPanel*>(); }
  void click(const char* button) {
    QTest::mouseClick(child<QAbstractButton>(button), Qt::LeftButton);
  }
  void view(int index) { click(("energy_view_" + std::to_string(index)).c_str()); }
  void choose(const char* list, const char* text) {
    auto* box = child<QComboBox>(list);
    const int at = box->findText(text, Qt::MatchStartsWith);
    ASSERT_GE(at, 0) << text;
    box->setFocus();
    // The arrow keys change the list step by step.
    while (box->currentIndex() < at) QTest::keyClick(box, Qt::Key_Down);
    while (box->currentIndex() > at) QTest::keyClick(box, Qt::Key_Up);
  }
  void tick(const char* mechanism) {
    for (QAction* action : child<QToolButton>("energy_mechanisms")->menu()->actions()) {
      if (action->data().toString() == mechanism) return action->trigger();
    }
    FAIL() << mechanism;
  }
  double number(const char* name) {
    const auto& numbers = panel().figure()->numbers;
    const auto found = numbers.find(name);
    return found == numbers.end() ? -1 : found->second.front();
  }
};

TEST_F(EnergyPanelTest, ShowsThePapersExamplesWhileNothingIsOpen) {
  ASSERT_TRUE(wait_until_settled());
  ASSERT_NE(panel().figure(), nullptr);
  EXPECT_EQ(panel().figure()->panels.front().x.ticks.size(), 3U);
  EXPECT_EQ(child<QComboBox>("energy_network")->currentText(), "Examples of the papers");
}

TEST_F(EnergyPanelTest, CountsTheModelsThatAreOpen) {
  session().open(source_folder() + "/sample_data/models/fashion-softmax.h5");
  session().open(source_folder() + "/sample_data/models/fashion-adder.h5");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_GT(number("energy_pj/fashion-adder"), 0);
  // Energies are relative to the second model, which is 100 %.
  const std::string second = panel().figure()->panels.front().x.ticks.at(1).label;
  choose("energy_reference", ("Relative to " + second).c_str());
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(panel().figure()->panels.front().y.label, "energy (% of " + second + ")");
  EXPECT_THAT(panel().figure()->command, testing::HasSubstr("--set relative=2"));
}

TEST_F(EnergyPanelTest, TheSliderOfTokensRedraws) {
  choose("energy_network", "DeiT-T");
  ASSERT_TRUE(wait_until_settled());
  const double own = number("energy_pj/DeiT-T");
  ASSERT_GT(own, 0);
  auto* slider = child<QSlider>("energy_tokens");
  ASSERT_TRUE(slider->isVisible());
  slider->setFocus();
  QTest::keyClick(slider, Qt::Key_End);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_THAT(panel().figure()->command, testing::HasSubstr("--set tokens=65536"));
  EXPECT_GT(number("energy_pj/DeiT-T"), 100 * own);
}

TEST_F(EnergyPanelTest, OnlySlidersThatMatterAreThere) {
  choose("energy_network", "DeiT-T");
  EXPECT_FALSE(child<QSlider>("energy_bits")->isVisible());
  tick("hash");
  EXPECT_TRUE(child<QSlider>("energy_bits")->isVisible());
  EXPECT_FALSE(child<QSlider>("energy_landmarks")->isVisible());
  ASSERT_TRUE(wait_until_settled());
  const double usual = number("energy_pj/DeiT-T");
  auto* bits = child<QSlider>("energy_bits");
  bits->setFocus();
  QTest::keyClick(bits, Qt::Key_Left);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_LT(number("energy_pj/DeiT-T"), usual);
  EXPECT_THAT(panel().figure()->command, testing::HasSubstr("parameters=bits=15"));
}

TEST_F(EnergyPanelTest, EveryViewDrawsItsFigure) {
  const char* names[] = {"energy-breakdown", "energy-breakdown", "energy-share",
                         "energy-growth",    "operations-table", "mechanism-costs"};
  choose("energy_network", "DeiT-T");
  for (int index = 0; index < 6; ++index) {
    view(index);
    ASSERT_TRUE(wait_until_settled());
    ASSERT_NE(panel().figure(), nullptr) << index;
    EXPECT_EQ(panel().figure()->name, names[index]);
  }
  EXPECT_EQ(child<QTableWidget>("operations-table_table")->item(0, 1)->text(), "softmax");
}

TEST_F(EnergyPanelTest, MeasuresWhenAskedAndCanBeStopped) {
  choose("energy_network", "DeiT-T");
  tick("softmax");
  view(5);
  auto* table = child<QTableWidget>("mechanism-costs_table");
  ASSERT_EQ(table->rowCount(), 1);
  EXPECT_EQ(table->columnCount(), 5);  // the columns of measured times come with a measurement
  auto* tokens = child<QSlider>("energy_tokens");
  tokens->setFocus();
  QTest::keyClick(tokens, Qt::Key_End);
  click("measure_kernels");
  click("measure_kernels");  // the button is Cancel now
  ASSERT_TRUE(wait_until_settled());
  EXPECT_THAT(child<QLabel>("measure_note")->text().toStdString(), testing::HasSubstr("Cancelled"));
  QTest::keyClick(tokens, Qt::Key_Home);
  QTest::keyClick(tokens, Qt::Key_Right);
  click("measure_kernels");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_GT(table->item(0, 5)->text().toDouble(), 0);
  EXPECT_EQ(panel().figure()->numbers.at("seconds/softmax").size(), 1U);
  EXPECT_EQ(panel().figure()->numbers.at("tokens").back(), 64);
}

TEST_F(EnergyPanelTest, TakesTheUsersOwnEnergyTable) {
  ASSERT_TRUE(wait_until_settled());
  const auto file = folder() / "chip.json";
  std::ofstream(file) << R"({"name": "my chip", "addition_pj": 1, "multiplication_pj": 1})";
  auto* list = child<QComboBox>("energy_constants");
  answer_file_dialog(file);
  list->setFocus();
  QTest::keyClick(list, Qt::Key_End);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(list->currentText(), "my chip");
  EXPECT_THAT(panel().figure()->command, testing::HasSubstr("chip.json"));
}

TEST_F(EnergyPanelTest, ExportsTheNumbersItShows) {
  choose("energy_network", "DeiT-S");
  ASSERT_TRUE(wait_until_settled());
  const auto file = folder() / "energy.csv";
  answer_file_dialog(file);
  click("energy_export");
  std::stringstream text, how_it_was_made;
  text << std::ifstream(file).rdbuf();
  how_it_was_made << std::ifstream(file.string() + "-metadata.json").rdbuf();
  EXPECT_THAT(text.str(), testing::HasSubstr("DeiT-S"));
  EXPECT_THAT(how_it_was_made.str(), testing::HasSubstr(panel().figure()->command));
}

}  // namespace
}  // namespace attnscope
