#include "app/widgets/control_values.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QToolButton>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/widgets/number_slider.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

TEST(ControlValues, AreReadAndSetByName) {
  QWidget root;
  auto* list = new QComboBox(&root);
  list->setAccessibleName("Rules");
  list->addItems({"ours", "theirs"});
  auto* number = new NumberSlider("Bits", {.minimum = 1, .maximum = 64, .step = 1}, 16, &root);
  auto* box = new QCheckBox("Signs", &root);
  auto* unnamed = new QDoubleSpinBox(&root);
  unnamed->setValue(7);
  const std::map<std::string, std::string> before = control_values(root);
  EXPECT_EQ(before.at("Rules"), "ours");
  EXPECT_EQ(before.at("Signs"), "off");
  EXPECT_EQ(before.at("Bits 2"), "16");
  EXPECT_EQ(before.size(), 4U)
      << "the slider and the field of Bits, and what has no name is left out";

  list->setCurrentIndex(1);
  number->set_value(5);
  box->setChecked(true);
  const std::map<std::string, std::string> changed = control_values(root);
  set_control_values(root, before);
  EXPECT_EQ(control_values(root), before);
  EXPECT_EQ(number->value(), 16);
  set_control_values(root, changed);
  EXPECT_EQ(list->currentText(), "theirs");
  EXPECT_EQ(number->value(), 5);
  EXPECT_TRUE(box->isChecked());

  set_control_values(root, {{"Rules", "nobody's"}, {"Bits 2", "many"}, {"Colour", "red"}});
  EXPECT_EQ(control_values(root), changed) << "what is not possible is left as it is";
}

TEST_F(WindowTest, ASessionKeepsWhatPanelsAreSetTo) {
  session().open(write_sample("one.h5", sample_trace(2, 2, 5, 2)));
  ASSERT_TRUE(wait_until_settled());
  window().show_panel("hash-codes");
  window().show_panel("query");
  window().show_panel("energy");
  auto* rules = child<QComboBox>("energy_convention");
  auto* bits = child<NumberSlider>("hash_bits");
  const QString ours = rules->currentText();
  rules->setCurrentIndex(1);
  const QString theirs = rules->currentText();
  bits->set_value(9);
  QToolButton* rollout = nullptr;
  for (QToolButton* button : window().findChildren<QToolButton*>()) {
    if (button->text() == "Rollout") rollout = button;
  }
  ASSERT_NE(rollout, nullptr);
  rollout->click();
  const std::filesystem::path file = folder() / "session.json";
  session().save(file);
  const auto json = nlohmann::json::parse(std::ifstream(file));
  EXPECT_EQ(json.at("panels").at("energy").at("Whose accounting"), theirs.toStdString());

  rules->setCurrentText(ours);
  bits->set_value(20);
  for (QToolButton* button : window().findChildren<QToolButton*>()) {
    if (button->text() == "Row") button->click();
  }
  ASSERT_FALSE(rollout->isChecked());
  session().restore(file);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(rules->currentText(), theirs);
  EXPECT_EQ(bits->value(), 9);
  EXPECT_TRUE(rollout->isChecked());
}

}  // namespace
}  // namespace attnscope
