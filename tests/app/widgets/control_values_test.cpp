#include "app/widgets/control_values.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSpinBox>
#include <QToolButton>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/widgets/number_slider.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

TEST(ControlValues, ReadsAndSetsControlsByObjectName) {
  QWidget root;
  auto* list = new QComboBox(&root);
  list->setObjectName("rules");
  list->setAccessibleName("Rules of the count");
  list->addItems({"ours", "theirs"});
  auto* number = new NumberSlider("Bits", {.minimum = 1, .maximum = 64, .step = 1}, 16, &root);
  number->setObjectName("bits");
  auto* box = new QCheckBox("Signs", &root);
  box->setObjectName("switch");
  auto* second = new QCheckBox("Zeros", &root);
  second->setObjectName("switch");
  auto* unnamed = new QDoubleSpinBox(&root);
  unnamed->setAccessibleName("Width");
  const ControlValues before = control_values(root);
  const ControlValues expected = {
      {"rules", "ours"}, {"bits", "16"}, {"switch", "off"}, {"switch 2", "off"}};
  EXPECT_EQ(before, expected) << "controls without an object name are left out";

  list->setCurrentIndex(1);
  number->set_value(5);
  second->setChecked(true);
  const ControlValues changed = control_values(root);
  set_control_values(root, before);
  EXPECT_EQ(control_values(root), before);
  EXPECT_EQ(number->value(), 16);
  set_control_values(root, changed);
  EXPECT_EQ(list->currentText(), "theirs");
  EXPECT_EQ(number->value(), 5);
  EXPECT_FALSE(box->isChecked());
  EXPECT_TRUE(second->isChecked());

  set_control_values(root, {{"rules", "nobody's"}, {"bits", "many"}, {"colour", "red"}});
  EXPECT_EQ(control_values(root), changed) << "values that are not possible change nothing";
}

TEST(ControlValues, KeepsTheNameOfAListsItemInsteadOfItsText) {
  QWidget root;
  auto* list = new QComboBox(&root);
  list->setObjectName("rules");
  list->addItem("Ours", "ours");
  list->addItem("Theirs", "theirs");
  list->setCurrentIndex(1);
  const ControlValues kept = control_values(root);
  EXPECT_EQ(kept, ControlValues({{"rules", "theirs"}}));
  list->setCurrentIndex(0);
  list->setItemText(1, "Reworded");
  set_control_values(root, kept);
  EXPECT_EQ(list->currentText(), "Reworded");
}

TEST(ControlValues, SetsControlsThatAnotherChoiceReplaces) {
  QWidget root;
  auto* page = new QComboBox(&root);
  page->setObjectName("page");
  page->addItems({"first", "second"});
  QSpinBox* number = nullptr;
  const auto renew = [&] {
    delete number;
    number = new QSpinBox(&root);
    number->setObjectName("number");
  };
  renew();
  QObject::connect(page, &QComboBox::activated, &root, renew);
  set_control_values(root, {{"number", "5"}, {"page", "second"}});
  EXPECT_EQ(page->currentText(), "second");
  EXPECT_EQ(number->value(), 5);
}

TEST_F(WindowTest, ASessionKeepsSettingsOfPanels) {
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
  auto* const rollout = child<QToolButton>("row_rollout");
  rollout->click();
  const std::filesystem::path file = folder() / "session.json";
  session().save(file);
  const auto json = nlohmann::json::parse(std::ifstream(file));
  EXPECT_EQ(json.at("panels").at("energy").at("energy_convention"), "adder");

  rules->setCurrentText(ours);
  bits->set_value(20);
  child<QToolButton>("row_row")->click();
  ASSERT_FALSE(rollout->isChecked());
  session().restore(file);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(rules->currentText(), theirs);
  EXPECT_EQ(bits->value(), 9);
  EXPECT_TRUE(rollout->isChecked());
}

}  // namespace
}  // namespace attnscope
