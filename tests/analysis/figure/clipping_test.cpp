
#include <cmath>
#include <gtest/gtest.h>

#include "analysis/figure/heat_scale.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/shared_bars.h"

namespace attnscope {
namespace {

/// A figure with one panel per row. Each panel has a map of one row on the given colour scale.
Figure figure_of(const std::vector<ColourScale>& scales,
                 const std::vector<std::pair<std::size_t, std::vector<float>>>& maps) {
  Figure figure;
  figure.colour_scales = scales;
  for (const auto& [scale, values] : maps) {
    Panel panel;
    panel.row = static_cast<std::int64_t>(figure.panels.size());
    HeatMap map{1, static_cast<std::int64_t>(values.size()), values, scale, 1};
    panel.marks.emplace_back(map);
    figure.panels.push_back(panel);
  }
  return figure;
}

ColourScale scale_of(double minimum, double maximum, ScaleNorm norm = ScaleNorm::linear) {
  ColourScale scale;
  scale.minimum = minimum;
  scale.maximum = maximum;
  scale.norm = norm;
  return scale;
}

TEST(Clipping, CountsValuesBeyondTheEnds) {
  const std::vector<ColourScale> unit = {scale_of(0, 1)};
  const float nan = std::nanf("");
  EXPECT_EQ(clipping_of(figure_of(unit, {{0, {0, 0.5F, 1, nan}}}), 0), (Clipping{false, false}));
  EXPECT_EQ(clipping_of(figure_of(unit, {{0, {0, 1}}, {0, {1.5F}}}), 0), (Clipping{false, true}));
  EXPECT_EQ(clipping_of(figure_of(unit, {{0, {-0.1F, 1}}}), 0), (Clipping{true, false}));
}

TEST(Clipping, ReportsValuesBelowAndAboveTheRange) {
  FigureRequest request;
  request.settings = {{"colour-map", std::string("grey")},
                      {"norm", std::string("linear")},
                      {"range", std::vector<double>{0.25, 0.75}}};
  const Settings settings(request);
  EXPECT_FALSE(heat_scale(settings, {0.25F, 0.5F, 0.75F}, "").clipped);
  EXPECT_TRUE(heat_scale(settings, {0.125F, 0.5F}, "").clipped);
  EXPECT_TRUE(heat_scale(settings, {0.5F, 0.875F}, "").clipped);
}

TEST(Clipping, IsSeparateForEachScale) {
  const Figure figure = figure_of({scale_of(0, 1), scale_of(0, 1)}, {{0, {0.5F}}, {1, {2}}});
  EXPECT_EQ(clipping_of(figure, 0), (Clipping{false, false}));
  EXPECT_EQ(clipping_of(figure, 1), (Clipping{false, true}));
}

TEST(Clipping, AnEndThatIsAValueClipsNothing) {
  const float high = 0.1F;  // its double is a little more than 0.1
  const Figure figure = figure_of({scale_of(0, static_cast<double>(high))}, {{0, {0, high}}});
  EXPECT_EQ(clipping_of(figure, 0), (Clipping{false, false}));
}

TEST(Clipping, ClipsZeroOnLogarithmicScales) {
  const Figure figure = figure_of({scale_of(0, 1, ScaleNorm::logarithmic)}, {{0, {0, 1}}});
  EXPECT_EQ(clipping_of(figure, 0), (Clipping{true, false}));
}

TEST(SharedBars, StandNextToTheRowsThatShareThem) {
  const Figure figure = figure_of({scale_of(0, 1), scale_of(0, 2), scale_of(0, 3), scale_of(0, 4)},
                                  {{0, {1}}, {1, {1}}, {0, {1}}, {2, {1}}});
  const std::vector<SharedBar> bars = shared_bars(figure, 0);
  ASSERT_EQ(bars.size(), 3U);  // no map uses the last scale
  EXPECT_EQ(bars[0].first_row, 0);
  EXPECT_EQ(bars[0].last_row, 2);
  EXPECT_EQ(bars[1].rank, 1U);  // shares rows with the first bar
  EXPECT_EQ(bars[2].first_row, 3);
  EXPECT_EQ(bars[2].rank, 0U);
}

TEST(SharedBars, StackWhenTheyShareEnoughRows) {
  // Rows of maps and rows of differences alternate.
  const Figure figure = figure_of({scale_of(0, 1), scale_of(-1, 1)},
                                  {{0, {1}}, {1, {1}}, {0, {1}}, {1, {1}}, {0, {1}}, {1, {1}}});
  const std::vector<SharedBar> bars = shared_bars(figure, 0);
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_EQ(bars[0].first_row, 0);
  EXPECT_EQ(bars[0].last_row, 2);
  EXPECT_EQ(bars[1].first_row, 3);
  EXPECT_EQ(bars[1].last_row, 5);
  EXPECT_EQ(bars[0].rank + bars[1].rank, 0U);
}

}  // namespace
}  // namespace attnscope
