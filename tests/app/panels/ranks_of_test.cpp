// Ranks of something else than maps, and other rollouts than that of maps, chosen in their panels.
#include <QActionGroup>
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QTableView>
#include <QToolButton>
#include <gtest/gtest.h>

#include "analysis/analysed/subject_spectra_of.h"
#include "analysis/mixing/mixing.h"
#include "analysis/rollout/rollout.h"
#include "app/panels/frame/figure_panel.h"
#include "app/panels/query/query_view.h"
#include "app/session/sample_data.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class RanksOf : public WindowTest {
 protected:
  void open_sample(const char* model) {
    session().set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
    session().open(sample_data_folder() / "models" / model);
    ASSERT_TRUE(wait_until([this] { return session().trace(id(0)) != nullptr; }));
    ASSERT_TRUE(wait_until_settled());
  }
  void choose(const char* button, const QString& what) {
    for (QAction* action : child<QToolButton>(button)->menu()->actions()) {
      if (action->text() == what) action->trigger();
    }
    QTest::qWait(100);
    ASSERT_TRUE(wait_until_settled());
  }
};

TEST_F(RanksOf, TheTableIsOfWhatIsChosen) {
  open_sample("fashion-softmax.h5");
  auto* const table = child<QTableView>("rank_table")->model();
  const int columns = table->columnCount();
  const QString of_map = table->index(2, 2).data().toString();
  choose("ranks_of", "values");
  EXPECT_EQ(child<QToolButton>("ranks_of")->text(), "of values");
  EXPECT_EQ(table->columnCount(), columns - 1) << "no I is added to values";
  const std::vector<MapSpectrum> values =
      subject_spectra_of(session().subjects().front().subject, Analysed{.of = SpectrumOf::values})
          .without;
  ASSERT_FALSE(values.empty());
  bool found = false;
  for (int row = 0; row < table->rowCount(); ++row) {
    if (table->index(row, 0).data().toString() != "0") continue;
    if (table->index(row, 1).data().toString() != "0") continue;
    EXPECT_EQ(table->index(row, 2).data().toInt(), values.front().equivalent_rank);
    found = true;
  }
  EXPECT_TRUE(found);
  choose("ranks_of", "map");
  EXPECT_EQ(table->columnCount(), columns);
  EXPECT_EQ(table->index(2, 2).data().toString(), of_map);
}

TEST_F(RanksOf, WhatAMechanismDoesNotHaveIsSaid) {
  open_sample("fashion-daft-full.h5");
  choose("ranks_of", "scores");
  bool said = false;
  for (const QLabel* label : window().findChildren<QLabel*>()) {
    said |= label->isVisible() && label->text().startsWith("⚠");
  }
  EXPECT_TRUE(said);
  choose("ranks_of", "map");
  EXPECT_GT(child<QTableView>("rank_table")->model()->rowCount(), 0);
}

TEST_F(RanksOf, DepthIsOfWhatIsChosen) {
  open_sample("fashion-softmax.h5");
  window().show_panel("depth");
  ASSERT_TRUE(wait_until_settled());
  const FigurePanel* depth = nullptr;
  for (const FigurePanel* panel : window().findChildren<FigurePanel*>()) {
    if (panel->title() == "Rank over depth") depth = panel;
  }
  ASSERT_NE(depth, nullptr);
  ASSERT_TRUE(wait_until([&] { return depth->figure() != nullptr; }));
  EXPECT_EQ(depth->figure()->name, "rank-over-depth");
  choose("depth_of", "head-output");
  EXPECT_EQ(depth->figure()->name, "rank-by-layer");
  choose("depth_of", "map");
  EXPECT_EQ(depth->figure()->name, "rank-over-depth");
}

TEST_F(RanksOf, ARolloutIsOfMapsOrOfMixing) {
  open_sample("fashion-softmax.h5");
  auto* const rolled = child<QComboBox>("rolled_out");
  EXPECT_TRUE(rolled->isHidden());
  QToolButton* rollout = nullptr;
  for (QToolButton* button : window().findChildren<QToolButton*>()) {
    if (button->text() == "Rollout") rollout = button;
  }
  ASSERT_NE(rollout, nullptr);
  QTest::mouseClick(rollout, Qt::LeftButton);
  EXPECT_FALSE(rolled->isHidden());
  ASSERT_TRUE(wait_until_settled());
  const Subject& subject = session().subjects().front().subject;
  const auto shown = [this] { return child<QueryView>("query_view_0")->picture().weights; };
  const auto expect_row = [&](const Tensor& all) {
    const auto weights = shown();
    const std::int64_t query = session().selection().query;
    ASSERT_EQ(std::ssize(weights), all.extent(1));
    for (std::size_t key = 0; key < weights.size(); ++key) {
      EXPECT_EQ(weights[key], all.matrix()(query, static_cast<Eigen::Index>(key))) << key;
    }
  };
  expect_row(attention_rollout(*subject.trace));
  const int alti = rolled->findText("ALTI");
  ASSERT_GE(alti, 0);
  rolled->setCurrentIndex(alti);
  ASSERT_TRUE(wait_until_settled());
  expect_row(mixing_rollout(subject, Mixing::alti));
  rolled->setCurrentIndex(rolled->findText("GlobEnc"));
  ASSERT_TRUE(wait_until_settled());
  expect_row(mixing_rollout(subject, Mixing::globenc));
}

TEST_F(RanksOf, ARolloutThatThereIsNotSaysWhy) {
  open_sample("fashion-daft-full.h5");  // channels have maps of their own
  for (QToolButton* button : window().findChildren<QToolButton*>()) {
    if (button->text() == "Rollout") QTest::mouseClick(button, Qt::LeftButton);
  }
  auto* const rolled = child<QComboBox>("rolled_out");
  rolled->setCurrentIndex(rolled->findText("ALTI"));
  ASSERT_TRUE(wait_until_settled());
  bool said = false;
  for (const QLabel* label : window().findChildren<QLabel*>()) {
    said |= label->isVisible() && label->text().startsWith("None of ");
  }
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace attnscope
