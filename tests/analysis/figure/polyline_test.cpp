#include "analysis/figure/polyline.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace attnscope {
namespace {

TEST(Polyline, IsItselfInsideTheWindow) {
  const std::vector<double> x = {0, 0.5, 1};
  const std::vector<double> y = {0, 1, 0.25};
  const Polyline line = cut(x, y, {});
  EXPECT_EQ(line.x, x);
  EXPECT_EQ(line.y, y);
}

TEST(Polyline, EndsWhereItLeavesTheWindow) {
  const Polyline line = cut({-1, 1}, {-1, 1}, {});
  ASSERT_EQ(line.x.size(), 2U);
  EXPECT_DOUBLE_EQ(line.x[0], 0);
  EXPECT_DOUBLE_EQ(line.y[0], 0);
  EXPECT_DOUBLE_EQ(line.x[1], 1);
}

TEST(Polyline, IsInterruptedOutsideAndAtNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Polyline left_and_back = cut({0.2, 0.4, 0.6}, {0.5, 3, 0.5}, {});
  ASSERT_EQ(left_and_back.x.size(), 5U);
  EXPECT_TRUE(std::isnan(left_and_back.x[2]));
  EXPECT_DOUBLE_EQ(left_and_back.y[1], 1);
  EXPECT_DOUBLE_EQ(left_and_back.y[3], 1);
  const Polyline gap = cut({0, 0.2, 0.4, 0.6, 0.8}, {0, 0.2, nan, 0.6, 0.8}, {});
  ASSERT_EQ(gap.x.size(), 5U);
  EXPECT_TRUE(std::isnan(gap.y[2]));
}

TEST(Polyline, CutsInLogarithms) {
  const PlotWindow window{.x_low = 1, .x_high = 10, .y_low = 0, .y_high = 1, .log_x = true};
  const Polyline line = cut({0.1, 10}, {0, 1}, window);
  ASSERT_EQ(line.x.size(), 2U);
  EXPECT_NEAR(line.x[0], 1, 1e-12);
  EXPECT_NEAR(line.y[0], 0.5, 1e-12);
  EXPECT_TRUE(cut({0, -1}, {0.5, 0.5}, window).x.empty());
}

TEST(Polyline, NeverLeavesTheWindow) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal(0.5, 1);
  std::vector<double> x(500), y(500);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = normal(random);
    y[i] = normal(random);
  }
  const Polyline line = cut(x, y, {});
  ASSERT_GT(line.x.size(), 100U);
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (std::isnan(line.x[i])) continue;
    EXPECT_GE(line.x[i], -1e-9);
    EXPECT_LE(line.x[i], 1 + 1e-9);
    EXPECT_GE(line.y[i], -1e-9);
    EXPECT_LE(line.y[i], 1 + 1e-9);
  }
}

}  // namespace
}  // namespace attnscope
