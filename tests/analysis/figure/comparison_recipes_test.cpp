#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "analysis/comparison/comparison.h"
#include "analysis/figure/recipe.h"
#include "analysis/spectrum/map_batch.h"
#include "core/error.h"
#include "tests/support/attention_subjects.h"

namespace attnscope {
namespace {

FigureRequest three_subjects() {
  FigureRequest request;
  request.subjects = {attention_subject("net-softmax", {"softmax", {}}),
                      attention_subject("net-adder", {"adder", {}}),
                      attention_subject("net-linear", {"linear", {}})};
  return request;
}

TEST(ComparisonFigure, DrawsTheReferenceTheOthersAndTheirDifferences) {
  const FigureRequest request = three_subjects();
  const Figure figure = make_figure("comparison", request);
  // Three maps stand above two differences.
  ASSERT_EQ(figure.panels.size(), 5U);
  ASSERT_EQ(figure.colour_scales.size(), 2U);
  EXPECT_EQ(figure.colour_scales[1].colour_map, "diverging");
  EXPECT_EQ(figure.colour_scales[1].minimum, -figure.colour_scales[1].maximum);
  const MatrixD reference = map_seen(*request.subjects[0].trace, {1, 0}, IdentityView::as_is);
  const MatrixD other = map_seen(*request.subjects[1].trace, {1, 0}, IdentityView::as_is);
  const auto found = std::find_if(figure.panels.begin(), figure.panels.end(),
                                  [](const Panel& p) { return p.row == 1 && p.column == 1; });
  ASSERT_NE(found, figure.panels.end());
  const auto& heat = std::get<HeatMap>(found->marks.front());
  EXPECT_EQ(heat.colour_scale, 1U);
  for (Eigen::Index i = 0; i < other.size(); ++i) {
    EXPECT_EQ(heat.values[static_cast<std::size_t>(i)],
              static_cast<float>(other.data()[i] - reference.data()[i]));
  }
  const SubjectComparison numbers =
      compare_traces(*request.subjects[0].trace, *request.subjects[1].trace, {});
  EXPECT_EQ(figure.numbers.at("js_divergence_bits/net-adder/layer 1/head 0").front(),
            numbers.maps[2].values[ComparisonQuantity::divergence]);
}

TEST(ComparisonFigure, AbsoluteAndRelativeDifferencesHaveTheirScales) {
  FigureRequest request = three_subjects();
  request.settings = {{"difference", "absolute"}, {"reference", 2}, {"layers", "0,2"}};
  const Figure absolute = make_figure("comparison", request);
  EXPECT_EQ(absolute.colour_scales[1].minimum, 0);
  EXPECT_EQ(absolute.colour_scales[1].colour_map, "viridis");
  EXPECT_EQ(absolute.panels.size(), 10U);
  EXPECT_EQ(absolute.panels.front().title, "adder");
  request.settings = {{"difference", "relative"}};
  const Figure relative = make_figure("comparison", request);
  EXPECT_EQ(relative.colour_scales[1].minimum, -1);
  for (const Panel& panel : relative.panels) {
    const auto* heat = std::get_if<HeatMap>(&panel.marks.front());
    if (heat == nullptr || heat->colour_scale != 1) continue;
    for (const float value : heat->values) EXPECT_LE(std::abs(value), 1);
  }
}

TEST(ComparisonFigure, ExplainsMapsOfDifferentSizesInsteadOfTheirDifference) {
  FigureRequest request = three_subjects();
  request.subjects.resize(1);
  request.subjects.push_back(
      attention_subject("small", {"softmax", {}}, {.grid_rows = 4, .grid_columns = 4}));
  const Figure figure = make_figure("comparison", request);
  ASSERT_EQ(figure.panels.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<TextMark>(figure.panels.back().marks.front()));
  EXPECT_NE(figure.caption.find("different size"), std::string::npos) << figure.caption;
}

TEST(RankComparison, PointsAreTheRanksOfBoth) {
  const FigureRequest request = three_subjects();
  const Figure figure = make_figure("rank-comparison", request);
  const SubjectComparison numbers =
      compare_traces(*request.subjects[0].trace, *request.subjects[2].trace, {});
  const std::vector<double>& ranks = figure.numbers.at("rank/net-linear");
  ASSERT_EQ(ranks.size(), numbers.maps.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    EXPECT_EQ(ranks[i], numbers.maps[i].values[ComparisonQuantity::rank]);
  }
  EXPECT_EQ(figure.numbers.at("mean_rank_difference/net-linear").front(),
            numbers.mean[ComparisonQuantity::rank_difference]);
}

TEST(SpectrumComparison, CurvesRiseFromZeroToOneWithTheAnalysisDistances) {
  FigureRequest request = three_subjects();
  request.subjects.push_back(
      attention_subject("small", {"softmax", {}}, {.grid_rows = 4, .grid_columns = 4}));
  const Figure figure = make_figure("spectrum-comparison", request);
  int curves = 0;
  for (const Mark& mark : figure.panels[0].marks) {
    const auto& line = std::get<Line>(mark);
    EXPECT_EQ(line.y.front(), 0);
    EXPECT_NEAR(line.y.back(), 1, 1e-9);
    EXPECT_TRUE(std::is_sorted(line.y.begin(), line.y.end()));
    ++curves;
  }
  EXPECT_EQ(curves, 4);
  const SubjectComparison numbers =
      compare_traces(*request.subjects[0].trace, *request.subjects[3].trace, {});
  EXPECT_EQ(figure.numbers.at("spectrum_distance/small").front(),
            numbers.mean[ComparisonQuantity::spectrum_distance]);
}

TEST(SpectrumComparison, CurvesAndDistancesAreOfTheSameShare) {
  FigureRequest request = three_subjects();
  const Figure values = make_figure("spectrum-comparison", request);
  request.settings["share"] = "energy";
  const Figure squares = make_figure("spectrum-comparison", request);
  EXPECT_EQ(values.panels[0].y.label, "cumulative share f of Σσ");
  EXPECT_EQ(squares.panels[0].y.label, "cumulative share f of Σσ²");
  for (std::size_t i = 0; i < values.panels[0].marks.size(); ++i) {
    const auto& plain = std::get<Line>(values.panels[0].marks[i]);
    const auto& of_squares = std::get<Line>(squares.panels[0].marks[i]);
    EXPECT_GT(of_squares.y[20], plain.y[20]) << "squares reach each share earlier";
  }
}

TEST(ComparisonFigures, NeedAReferenceAndAnotherModel) {
  for (const char* name : {"comparison", "rank-comparison", "spectrum-comparison"}) {
    FigureRequest request = three_subjects();
    request.settings = {{"reference", 4}};
    EXPECT_THROW((void)make_figure(name, request), Error) << name;
    request.settings = {{"align", "width"}};
    EXPECT_THROW((void)make_figure(name, request), Error) << name;
    request.settings.clear();
    request.subjects.resize(1);
    EXPECT_THROW((void)make_figure(name, request), Error) << name;
  }
}

}  // namespace
}  // namespace attnscope
