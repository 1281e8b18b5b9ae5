#include "analysis/figure/ticks.h"

#include <cmath>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

std::string labels(const std::vector<Tick>& ticks) {
  std::string text;
  for (const Tick& tick : ticks) text += (text.empty() ? "" : " ") + tick.label;
  return text;
}

TEST(RoundTicks, AreRoundAndInside) {
  EXPECT_EQ(labels(round_ticks(0, 1)), "0 0.2 0.4 0.6 0.8 1");
  EXPECT_EQ(labels(round_ticks(0, 0.0543)), "0 0.01 0.02 0.03 0.04 0.05");
  EXPECT_EQ(labels(round_ticks(-3, 4.2)), "−2 0 2 4");
  EXPECT_EQ(labels(round_ticks(0, 6e6)), "0 2·10⁶ 4·10⁶ 6·10⁶");
  EXPECT_EQ(labels(round_ticks(0, 4e-4)), "0 10⁻⁴ 2·10⁻⁴ 3·10⁻⁴ 4·10⁻⁴");
}

TEST(RoundTicks, AreFewForAnyRange) {
  for (double extent = 1e-7; extent < 1e9; extent *= 1.37) {
    const std::vector<Tick> ticks = round_ticks(-0.3 * extent, 0.7 * extent);
    EXPECT_GE(ticks.size(), 2U) << extent;
    EXPECT_LE(ticks.size(), 7U) << extent;
    for (const Tick& tick : ticks) {
      EXPECT_GE(tick.value, -0.3001 * extent);
      EXPECT_LE(tick.value, 0.7001 * extent);
    }
  }
}

TEST(DecadeTicks, ArePowersOfTen) {
  EXPECT_EQ(labels(decade_ticks(0.5, 2000)), "10⁰ 10¹ 10² 10³");
  EXPECT_EQ(labels(decade_ticks(2, 30)), labels(round_ticks(2, 30)));
  EXPECT_LE(decade_ticks(1e-20, 1e20).size(), 9U);
}

TEST(BarTicks, LieWhereTheirValuesAre) {
  ColourScale scale;
  scale.minimum = -10;
  scale.maximum = 10;
  scale.norm = ScaleNorm::symmetric_logarithmic;
  const std::vector<Tick> ticks = bar_ticks(scale);
  EXPECT_EQ(labels(ticks), "0 10 −10 1 −1 0.1 −0.1");
  EXPECT_DOUBLE_EQ(ticks[0].value, 0.5);
  EXPECT_DOUBLE_EQ(ticks[1].value, 1);
  EXPECT_DOUBLE_EQ(ticks[2].value, 0);
  EXPECT_NEAR(ticks[3].value + ticks[4].value, 1, 1e-12);
}

TEST(TicksOf, UseTheAxisOwnTicksInItsRange) {
  Axis axis;
  axis.ticks = {{-1, "in"}, {0, "0"}, {5, "5"}};
  EXPECT_EQ(labels(ticks_of(axis, -0.5, 5)), "0 5");
}

}  // namespace
}  // namespace attnscope
