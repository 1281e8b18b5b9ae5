// Ranks of matrices other than maps, and rollouts of other quantities, chosen in their panels.
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QTableView>
#include <QToolButton>
#include <gtest/gtest.h>

#include "analysis/comparison/comparison.h"
#include "analysis/matrix/subject_spectra_of.h"
#include "analysis/mixing/mixing.h"
#include "analysis/rollout/rollout.h"
#include "app/panels/all_maps/all_maps_panel.h"
#include "app/panels/frame/figure_panel.h"
#include "app/panels/row/query_view.h"
#include "app/session/sample_data.h"
#include "app/widgets/elided_label.h"
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
  /// The matrix that the title row of a panel names.
  QString note_of(const QString& title) {
    for (DockPanel* panel : window().findChildren<DockPanel*>()) {
      if (panel->title() != title || !qobject_cast<QDockWidget*>(panel->parentWidget())) continue;
      const auto* const note = panel->header()->findChild<ElidedLabel*>("panel_note");
      return note->full_text();
    }
    return {};
  }
  const FigurePanel* figure_panel(const QString& title) {
    for (const FigurePanel* panel : window().findChildren<FigurePanel*>()) {
      if (panel->title() == title) return panel;
    }
    return nullptr;
  }
  /// Chooses in the menu of the analysed matrix by the action's name: "values", "centred".
  void choose(const char* what) {
    auto* const action = child<QAction>(("matrix_" + std::string(what)).c_str());
    ASSERT_NE(action, nullptr) << what;
    action->trigger();
    QTest::qWait(100);
    ASSERT_TRUE(wait_until_settled());
  }
};

TEST_F(RanksOf, TheTableFollowsTheChosenMatrix) {
  open_sample("fashion-softmax.h5");
  auto* const table = child<QTableView>("rank_table")->model();
  const int columns = table->columnCount();
  const QString of_map = table->index(2, 2).data().toString();
  choose("values");
  EXPECT_EQ(note_of("All maps"), "of values");
  EXPECT_EQ(table->columnCount(), columns - 1) << "no I is added to values";
  const std::vector<MapSpectrum> values = subject_spectra_of(session().subjects().front().subject,
                                                             MatrixChoice{.of = MatrixKind::values})
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
  choose("map");
  EXPECT_EQ(note_of("All maps"), "");
  EXPECT_EQ(table->columnCount(), columns);
  EXPECT_EQ(table->index(2, 2).data().toString(), of_map);
}

TEST_F(RanksOf, ReportsMatricesThatAMechanismLacks) {
  open_sample("fashion-daft-full.h5");
  choose("scores");
  bool said = false;
  for (const QLabel* label : window().findChildren<QLabel*>()) {
    said |= label->isVisible() && label->text().startsWith("⚠");
  }
  EXPECT_TRUE(said);
  choose("map");
  EXPECT_GT(child<QTableView>("rank_table")->model()->rowCount(), 0);
}

TEST_F(RanksOf, DepthFollowsTheChosenMatrix) {
  open_sample("fashion-softmax.h5");
  window().show_panel("depth");
  ASSERT_TRUE(wait_until_settled());
  const auto* const panel = window().findChild<AllMapsPanel*>();
  ASSERT_NE(panel, nullptr);
  ASSERT_TRUE(wait_until([&] { return panel->figure() != nullptr; }));
  EXPECT_EQ(panel->figure()->name, "rank-over-depth");
  choose("head-output");
  EXPECT_EQ(panel->figure()->name, "rank-by-layer");
  choose("map");
  EXPECT_EQ(panel->figure()->name, "rank-over-depth");
  auto* const measure = child<QComboBox>("all_maps_measure");
  measure->setCurrentIndex(measure->findData("normalised_entropy"));
  QTest::qWait(100);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(panel->figure()->name, "heads-over-depth");
}

TEST_F(RanksOf, TheTableHasEveryMeasure) {
  open_sample("fashion-softmax.h5");
  auto* const measure = child<QComboBox>("all_maps_measure");
  auto* const table = child<QTableView>("rank_table")->model();
  for (int i = 0; i < measure->count(); ++i) {
    measure->setCurrentIndex(i);
    ASSERT_TRUE(wait_until_settled());
    ASSERT_TRUE(wait_until([&] { return table->rowCount() > 0; }, 60))
        << measure->itemText(i).toStdString();
  }
  measure->setCurrentIndex(measure->findData("normalised_entropy"));
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(table->columnCount(), 3) << "an entropy is of the map without I";
  const HeadTable expected = head_table(session().subjects().front().subject);
  for (int row = 0; row < table->rowCount(); ++row) {
    if (table->index(row, 0).data().toString() != "0") continue;
    if (table->index(row, 1).data().toString() != "0") continue;
    EXPECT_EQ(table->index(row, 2).data().toString(),
              QString::number(expected.rows.front().normalised_entropy, 'f', 3));
  }
}

TEST_F(RanksOf, SubtractsTheMeanRowOnDemand) {
  open_sample("fashion-softmax.h5");
  auto* const table = child<QTableView>("rank_table")->model();
  choose("centred");
  EXPECT_EQ(note_of("All maps"), "of map, centred");
  const SubjectSpectra centred =
      subject_spectra_of(session().subjects().front().subject, MatrixChoice{.centred = true});
  for (int row = 0; row < table->rowCount(); ++row) {
    if (table->index(row, 0).data().toString() != "0") continue;
    if (table->index(row, 1).data().toString() != "0") continue;
    EXPECT_EQ(table->index(row, 2).data().toInt(), centred.without.front().equivalent_rank);
  }
  choose("scores");
  EXPECT_EQ(note_of("Cumulative spectrum"), "of scores, centred");
  const FigurePanel* const spectrum = figure_panel("Cumulative spectrum");
  ASSERT_NE(spectrum, nullptr);
  ASSERT_NE(spectrum->figure(), nullptr);
  EXPECT_NE(spectrum->figure()->caption.find("scores before bias, mask and cap, without the mean"),
            std::string::npos);
}

TEST_F(RanksOf, OffersAddedTermsWhereTheyAreDefined) {
  open_sample("fashion-softmax.h5");
  auto* const residual = child<QAction>("matrix_residual");
  ASSERT_NE(residual, nullptr);
  EXPECT_FALSE(residual->isEnabled()) << "it is added to outputs";
  EXPECT_TRUE(child<QAction>("matrix_convolution")->isEnabled());
  choose("output");
  EXPECT_TRUE(residual->isEnabled());
  choose("residual");
  EXPECT_EQ(note_of("All maps"), "of output, residual");
  auto* const table = child<QTableView>("rank_table")->model();
  const SubjectSpectra found =
      subject_spectra_of(session().subjects().front().subject,
                         MatrixChoice{.of = MatrixKind::output, .added = Added::residual});
  bool shown = false;
  for (int row = 0; row < table->rowCount(); ++row) {
    if (table->index(row, 0).data().toString() != "0") continue;
    EXPECT_EQ(table->index(row, 2).data().toDouble(),
              static_cast<double>(found.without.front().equivalent_rank));
    shown = true;
    break;
  }
  EXPECT_TRUE(shown);
  choose("map");
  EXPECT_EQ(session().view().matrix, MatrixChoice{}) << "a map has no residual stream";
}

TEST_F(RanksOf, ComponentsFollowTheChosenMatrix) {
  open_sample("fashion-softmax.h5");
  window().show_panel("components");
  ASSERT_TRUE(wait_until_settled());
  const FigurePanel* const panel = figure_panel("Components");
  ASSERT_NE(panel, nullptr);
  ASSERT_TRUE(wait_until([&] { return panel->figure() != nullptr; }));
  EXPECT_NE(panel->figure()->caption.find("attention map"), std::string::npos);
  choose("values");
  EXPECT_NE(panel->figure()->caption.find("v_k over its channels"), std::string::npos)
      << panel->figure()->caption;
  EXPECT_EQ(panel->figure()->panels.at(0).title, "channels");
  ViewSettings view = session().view();
  view.identity = IdentityView::with;
  session().set_view(view);
  choose("scores");
  EXPECT_NE(panel->figure()->caption.find("scores before bias"), std::string::npos)
      << "no I is asked for of what has none";
}

TEST_F(RanksOf, RanksOfHeadsFollowTheChosenMatrix) {
  open_sample("fashion-softmax.h5");
  window().show_panel("heads");
  ASSERT_TRUE(wait_until_settled());
  choose("head-output");
  const auto* const panel = window().findChild<AllMapsPanel*>();
  ASSERT_NE(panel, nullptr);
  ASSERT_NE(panel->figure(), nullptr);
  EXPECT_NE(panel->figure()->caption.find("equivalent rank of head-output"), std::string::npos)
      << panel->figure()->caption;
  auto* const measure = child<QComboBox>("all_maps_measure");
  measure->setCurrentIndex(measure->findData("normalised_entropy"));
  QTest::qWait(100);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(note_of("All maps"), "") << "an entropy is of the map";
  EXPECT_EQ(panel->figure()->caption.find("head-output"), std::string::npos);
}

TEST_F(RanksOf, OneChoiceHoldsForTheWholeWindow) {
  open_sample("fashion-softmax.h5");
  window().show_panel("components");
  choose("values");
  for (const char* panel : {"All maps", "Cumulative spectrum", "Components"}) {
    EXPECT_EQ(note_of(panel), "of values") << panel;
  }
  press(Qt::Key_R);
  EXPECT_EQ(session().view().matrix.of, MatrixKind::values) << "R is for the lens";
}

TEST_F(RanksOf, TheComparisonFollowsTheChosenMatrix) {
  open_sample("fashion-softmax.h5");
  session().open(sample_data_folder() / "models" / "fashion-adder.h5");
  ASSERT_TRUE(wait_until([this] { return session().trace(id(1)) != nullptr; }));
  session().set_reference(id(0));
  window().show_panel("comparison");
  ASSERT_TRUE(wait_until_settled());
  auto* const table = child<QTableView>("comparison_table")->model();
  const auto rows = [table] { return table->rowCount(); };
  ASSERT_TRUE(wait_until([&] { return rows() > 0; }, 60));
  const int of_maps = rows();
  const auto column = [table](const QString& title) {
    for (int i = 0; i < table->columnCount(); ++i) {
      if (table->headerData(i, Qt::Horizontal).toString() == title) return i;
    }
    return -1;
  };
  const auto cell = [&](int row, const QString& title) {
    return table->index(row, column(title)).data().toString();
  };
  EXPECT_NE(cell(0, "JS"), "–");
  EXPECT_NE(cell(0, "rank, same H"), "–");
  EXPECT_NE(cell(0, "T"), "–");
  choose("values");
  ASSERT_TRUE(wait_until([&] { return rows() > 0; }, 60));
  EXPECT_EQ(rows(), of_maps);
  EXPECT_EQ(cell(0, "JS"), "–");
  EXPECT_EQ(cell(0, "rank, same H"), "–") << "an entropy is of weights";
  EXPECT_EQ(cell(0, "Frob."), "–") << "channels of other weights";
  EXPECT_NE(cell(0, "spectrum"), "–");
  const SubjectComparison found =
      compare_subjects(session().subjects()[0].subject, session().subjects()[1].subject,
                       {.analysed = {MatrixKind::values}});
  EXPECT_EQ(cell(0, "spectrum"),
            QString::number(found.mean[ComparisonQuantity::spectrum_distance], 'f', 3));
  EXPECT_TRUE(table->index(0, 0).data(Qt::ToolTipRole).toString().contains("other weights"));
  EXPECT_TRUE(table->headerData(column("rank"), Qt::Horizontal, Qt::ToolTipRole)
                  .toString()
                  .contains("values V"));
  choose("tokens");
  ASSERT_TRUE(wait_until([&] { return rows() > 0; }, 60));
  EXPECT_LT(rows(), of_maps) << "one of a layer";
  choose("map");
  ASSERT_TRUE(wait_until([&] { return rows() == of_maps; }, 60));
  EXPECT_NE(cell(0, "JS"), "–");
}

TEST_F(RanksOf, TheRolloutIsOfMapsOrOfMixing) {
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

TEST_F(RanksOf, ReportsWhyARolloutIsUndefined) {
  open_sample("fashion-daft-full.h5");  // each channel of this model has its own map
  child<QToolButton>("row_rollout")->click();
  auto* const rolled = child<QComboBox>("rolled_out");
  rolled->setCurrentIndex(rolled->findText("ALTI"));
  ASSERT_TRUE(wait_until_settled());
  bool said = false;
  for (const QLabel* label : window().findChildren<QLabel*>()) {
    said |= label->isVisible() && label->text().startsWith("No rollout for ");
  }
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace attnscope
