#include <QLabel>
#include <QToolButton>
#include <cmath>
#include <gtest/gtest.h>
#include <qcustomplot.h>

#include "analysis/features/patch_features.h"
#include "app/panels/row/map_values.h"
#include "app/panels/row/query_view.h"
#include "app/widgets/elided_label.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

TEST(MapValues, AreThoseOfTheCells) {
  const auto trace = std::make_shared<const Trace>(sample_trace(2, 2, 3, 1));
  const ShownMaps maps(trace, {});
  const MapValues values = map_values(maps, 1, 0);
  const Tensor& map = trace->layers[1].implied_map.whole();
  const std::int64_t tokens = map.extent(1);
  double sum = 0, squares = 0, greatest = 0;
  for (std::int64_t i = 0; i < tokens * tokens; ++i) {
    const auto value = static_cast<double>(map.data()[i]);
    sum += value;
    squares += value * value;
    greatest = std::max(greatest, value);
  }
  const auto count = static_cast<double>(tokens * tokens);
  EXPECT_EQ(values.finite, tokens * tokens);
  EXPECT_NEAR(values.mean, sum / count, 1e-12);
  EXPECT_NEAR(values.deviation, std::sqrt(squares / count - sum * sum / count / count), 1e-9);
  EXPECT_EQ(values.greatest, greatest);
  EXPECT_NEAR(values.least_row_sum, 1, 1e-5);
  const std::vector<double> means = means_over_distance(maps, 1, 0);
  ASSERT_EQ(std::ssize(means), tokens);
  double diagonal = 0;
  for (std::int64_t i = 0; i < tokens; ++i) {
    diagonal += static_cast<double>(map.data()[i * tokens + i]);
  }
  EXPECT_NEAR(means[0], diagonal / static_cast<double>(tokens), 1e-9);
  EXPECT_NEAR(means.back(),
              (static_cast<double>(map.data()[tokens - 1]) +
               static_cast<double>(map.data()[(tokens - 1) * tokens])) /
                  2,
              1e-9);
}

TEST_F(WindowTest, TheProfileFollowsTheSelection) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(3, 2, 4, 1)), "one");
  window().show_panel("profile");
  ASSERT_TRUE(wait_until_settled());
  QTest::qWait(100);
  auto* plot = child<QCustomPlot>("profile_plot");
  const auto& map = session().trace(id(0))->layers[2].implied_map;
  Selection selection = session().selection();
  selection.layer = 2;
  selection.head = 1;
  selection.query = 5;
  session().select(selection);
  QTest::qWait(150);
  ASSERT_EQ(plot->graphCount(), 1);
  EXPECT_EQ(plot->graph(0)->dataCount(), 17);
  EXPECT_FLOAT_EQ(static_cast<float>(plot->graph(0)->dataMainValue(7)),
                  map.data()[(17 + 5) * 17 + 7]);
  EXPECT_TRUE(child<ElidedLabel>("map_numbers")->full_text().contains("rows sum to 1"))
      << child<ElidedLabel>("map_numbers")->full_text().toStdString();
}

TEST_F(WindowTest, TheColumnIsShownOverTheInputToo) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(3, 2, 4, 1)), "one");
  window().show_panel("query");
  ASSERT_TRUE(wait_until_settled());
  Selection selection = session().selection();
  selection.layer = 1;
  selection.query = 5;
  session().select(selection);
  EXPECT_TRUE(child<QueryView>("query_view_0")->isVisible());
  const auto map = session().trace(id(0))->layers[1].implied_map.slice(0);
  for (std::int64_t token = 0; token < 17; ++token) {
    EXPECT_FLOAT_EQ(
        child<QueryView>("query_view_0")->picture().weights.at(static_cast<std::size_t>(token)),
        map(5, token));
  }
  child<QToolButton>("row_column")->click();
  for (std::int64_t token = 0; token < 17; ++token) {
    EXPECT_FLOAT_EQ(
        child<QueryView>("query_view_0")->picture().weights.at(static_cast<std::size_t>(token)),
        map(token, 5));
  }
  EXPECT_TRUE(child<QLabel>("row_caption")->text().startsWith("Key "));
  child<QToolButton>("row_distance")->click();
  EXPECT_FALSE(child<QueryView>("query_view_0")->isVisible());
  EXPECT_TRUE(child<QCustomPlot>("profile_plot")->isVisible());
}

TEST_F(WindowTest, TheCosineWithOtherTokensIsShownOverTheInput) {
  Trace trace = sample_trace(3, 2, 4, 1);
  trace.layers[1].tokens = raw_uniform({17, 6}, 3);
  session().add_trace(std::make_shared<const Trace>(trace), "one");
  window().show_panel("cosine");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(child<QLabel>("row_caption")->text().contains("tokens were not recorded"));
  Selection selection = session().selection();
  selection.layer = 1;
  selection.query = 5;
  session().select(selection);
  EXPECT_TRUE(child<QLabel>("row_caption")->text().startsWith("Likeness to "));
  const QueryPicture& picture = child<QueryView>("query_view_0")->picture();
  ASSERT_EQ(picture.weights.size(), 17U);
  const auto row = [&](std::int64_t token) { return trace.layers[1].tokens.matrix().row(token); };
  for (std::int64_t token = 0; token < 17; ++token) {
    const float cosine = row(token).dot(row(5)) / row(token).norm() / row(5).norm();
    EXPECT_NEAR(picture.weights[static_cast<std::size_t>(token)], cosine, 1e-5) << token;
  }
  EXPECT_LT(picture.scale.minimum, 0);
  EXPECT_EQ(picture.scale.maximum, 1);
}

TEST_F(WindowTest, ComponentsOfPatchesAreShownAsColours) {
  Trace trace = sample_trace(3, 2, 4, 1);
  trace.layers[1].tokens = raw_uniform({17, 6}, 3);
  session().add_trace(std::make_shared<const Trace>(trace), "one");
  window().show_panel("colours");
  ASSERT_TRUE(wait_until_settled());
  const auto caption = [&] { return child<QLabel>("row_caption")->text(); };
  EXPECT_TRUE(caption().contains("No colours for one")) << caption().toStdString();
  Selection selection = session().selection();
  selection.layer = 1;
  session().select(selection);
  ASSERT_TRUE(wait_until_settled());
  const QueryPicture& picture = child<QueryView>("query_view_0")->picture();
  ASSERT_EQ(picture.colours.size(), 17U);
  EXPECT_FALSE(picture.colours[0].isValid());
  const MatrixD patches = patch_tokens(trace, 1);
  const PatchAxes axes = patch_axes(patches);
  const MatrixD expected = patch_colours(patches, axes);
  for (Eigen::Index patch = 0; patch < 16; ++patch) {
    const QColor& colour = picture.colours[static_cast<std::size_t>(patch) + 1];
    EXPECT_NEAR(colour.redF(), expected(patch, 0), 0.01);
    EXPECT_NEAR(colour.greenF(), expected(patch, 1), 0.01);
    EXPECT_NEAR(colour.blueF(), expected(patch, 2), 0.01);
  }
  EXPECT_TRUE(caption().contains(QString("red %1 %").arg(std::lround(100 * axes.share[0]))))
      << caption().toStdString();
  EXPECT_FALSE(child<QCustomPlot>("profile_plot")->isVisible());
  child<QToolButton>("row_row")->click();
  EXPECT_TRUE(child<QueryView>("query_view_0")->picture().colours.empty());
}

}  // namespace
}  // namespace attnscope
