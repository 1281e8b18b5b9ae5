// The panel of analyses: its list, the reasons, the controls that follow the selection, and export.
#include "app/panels/analyses/analyses_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QStandardItemModel>
#include <QToolButton>
#include <gtest/gtest.h>
#include <qcustomplot.h>

#include "app/session/sample_data.h"
#include "app/window/export_dialog.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class AnalysesTest : public WindowTest {
 protected:
  void open(const char* model, const char* input) {
    const std::filesystem::path samples = sample_data_folder();
    session().set_input((samples / "inputs" / input).string());
    session().open(samples / "models" / model);
    ASSERT_TRUE(wait_until_settled());
    window().show_panel("analyses");
    ASSERT_TRUE(wait_until_settled());
  }
  [[nodiscard]] AnalysesPanel& panel() { return *window().findChild<AnalysesPanel*>(); }
  void show(const char* recipe) {
    ASSERT_TRUE(panel().show_page(recipe));
    ASSERT_TRUE(wait_until_settled());
  }
  [[nodiscard]] QStandardItem* item(const char* recipe) {
    QComboBox& list = *child<QComboBox>("analyses_list");
    return qobject_cast<QStandardItemModel*>(list.model())->item(list.findData(recipe));
  }
  [[nodiscard]] QDoubleSpinBox& number(const char* name) {
    return *panel().findChild<QDoubleSpinBox*>(name);
  }
  /// The text that stands in place of the figure; empty if there is a figure.
  [[nodiscard]] QString reason() {
    for (const QLabel* label : panel().findChildren<QLabel*>()) {
      if (label->isVisible() && label->text().startsWith("This analysis")) return label->text();
    }
    return {};
  }
};

TEST_F(AnalysesTest, ListsEveryFigureWithoutAPanelByItsQuestion) {
  window().show_panel("analyses");
  ASSERT_TRUE(wait_until_settled());
  QComboBox& list = *child<QComboBox>("analyses_list");
  std::size_t listed = 0;
  for (const FigureRecipe& recipe : figure_recipes()) {
    const bool expected = !recipe.has_panel && recipe.question != FigureQuestion::none;
    EXPECT_EQ(list.findData(QString::fromUtf8(recipe.name)) >= 0, expected) << recipe.name;
    listed += expected ? 1 : 0;
  }
  EXPECT_GE(listed, 14U);
  EXPECT_FALSE(qobject_cast<QStandardItemModel*>(list.model())->item(0)->isEnabled())
      << "a question is no analysis";
  EXPECT_EQ(reason(), "This analysis needs a model with a head, run on an input.");
}

TEST_F(AnalysesTest, DrawsWhatTheOpenModelsAllowAndSaysWhatOthersNeed) {
  open("fashion-softmax.h5", "09_ankle_boot.png");
  EXPECT_TRUE(item("logit-lens")->isEnabled());
  EXPECT_FALSE(item("attention-lines")->isEnabled());
  EXPECT_TRUE(item("attention-lines")->text().contains("needs a model that has run on a text"));
  for (const char* recipe : {"logit-lens", "logit-attribution", "relevance", "token-mixing",
                             "tokens-over-depth", "head-similarity", "score-channels",
                             "query-key-scatter", "rank-against-entropy", "random-networks"}) {
    show(recipe);
    ASSERT_NE(panel().figure(), nullptr) << recipe;
    EXPECT_EQ(panel().figure()->name, recipe);
    EXPECT_FALSE(child<QLabel>("analyses_caption")->text().isEmpty()) << recipe;
  }
  show("attention-lines");
  EXPECT_EQ(panel().figure(), nullptr);
  EXPECT_EQ(reason(), "This analysis needs a model that has run on a text.");
}

TEST_F(AnalysesTest, AsksForAFileInWordsOfTheWindow) {
  open("fashion-softmax.h5", "09_ankle_boot.png");
  show("feature-scatter");
  EXPECT_EQ(reason(), "This analysis needs a labelled data set: choose it above.");
  number("setting_count").setValue(6);
  panel()
      .findChild<QLineEdit*>("setting_dataset")
      ->setText(QString::fromStdString((sample_data_folder() / "inputs/twelve.npz").string()));
  ASSERT_TRUE(wait_until_settled());
  ASSERT_NE(panel().figure(), nullptr);
  EXPECT_EQ(panel().figure()->name, "feature-scatter");
}

TEST_F(AnalysesTest, FollowsTheSelectionUntilASettingIsTyped) {
  open("fashion-softmax.h5", "09_ankle_boot.png");
  show("score-channels");
  session().select_map(id(0), 3, 2);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(number("setting_layer").value(), 3);
  EXPECT_EQ(number("setting_head").value(), 2);
  EXPECT_NE(panel().figure()->caption.find("layer 3, head 2"), std::string::npos)
      << panel().figure()->caption;
  number("setting_head").setValue(0);
  session().select_map(id(0), 4, 1);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(number("setting_layer").value(), 4);
  EXPECT_EQ(number("setting_head").value(), 0) << "it was typed";
  QCheckBox& follow = *child<QCheckBox>("analyses_follow");
  follow.setChecked(false);
  follow.setChecked(true);
  EXPECT_EQ(number("setting_head").value(), 1) << "it follows again";
}

TEST_F(AnalysesTest, AWordUnderTheCursorShowsOnlyItsLines) {
  open("shakespeare-softmax.h5", "21_gonzalo.txt");
  show("attention-lines");
  const std::size_t all = panel().figure()->panels.at(0).marks.size();
  Selection selection = session().selection();
  selection.hover = {selection.subject, selection.layer, selection.head, 3, 1};
  session().select(selection);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_LT(panel().figure()->panels.at(0).marks.size(), all);
  EXPECT_NE(panel().figure()->caption.find("of query 3"), std::string::npos)
      << panel().figure()->caption;
  selection.hover.reset();
  session().select(selection);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(panel().figure()->panels.at(0).marks.size(), all);
}

TEST_F(AnalysesTest, ThePointOfATokenIsHoveredAndSelectedEverywhere) {
  open("shakespeare-softmax.h5", "21_gonzalo.txt");
  show("attention-lines");
  QCustomPlot& plot = *child<QCustomPlot>("analyses_plot");
  ASSERT_TRUE(wait_until([&] { return plot.axisRectCount() == 1; }));
  plot.replot(QCustomPlot::rpImmediateRefresh);
  const QCPAxisRect& axes = *plot.axisRect(0);
  const QPoint token(static_cast<int>(axes.axis(QCPAxis::atBottom)->coordToPixel(0)) + 1,
                     static_cast<int>(axes.axis(QCPAxis::atLeft)->coordToPixel(5)));
  QTest::mouseMove(&plot, token + QPoint(3, 0));
  QTest::mouseMove(&plot, token);
  ASSERT_TRUE(wait_until([&] { return session().selection().hover.has_value(); }));
  EXPECT_EQ(session().selection().hover->query, 5);
  ASSERT_TRUE(wait_until_settled());
  QTest::mouseClick(&plot, Qt::LeftButton, {}, token);
  EXPECT_EQ(session().selection().query, 5);
}

TEST_F(AnalysesTest, ExportsWhatItShows) {
  open("fashion-softmax.h5", "09_ankle_boot.png");
  session().open(sample_data_folder() / "models/fashion-adder.h5");
  ASSERT_TRUE(wait_until_settled());
  session().select_map(id(1), 2, 1);
  show("score-channels");
  number("setting_keys").setValue(7);
  ASSERT_TRUE(wait_until_settled());
  ASSERT_NE(panel().figure()->caption.find("fashion-adder"), std::string::npos);
  bool seen = false;
  on_dialog([&](QDialog& dialog) {
    seen = true;
    EXPECT_EQ(dialog.findChild<QComboBox*>("export_figure")->currentData().toString(),
              "score-channels");
    EXPECT_EQ(dialog.findChild<QDoubleSpinBox*>("setting_keys")->value(), 7);
    const auto* const models = dialog.findChild<QListWidget*>("export_subjects");
    EXPECT_EQ(models->item(0)->checkState(), Qt::Unchecked);
    EXPECT_EQ(models->item(1)->checkState(), Qt::Checked) << "the selected model was shown";
    dialog.reject();
  });
  child<QToolButton>("analyses_export")->click();
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace attnscope
