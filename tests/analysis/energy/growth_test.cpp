#include "analysis/energy/growth.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace attnscope {
namespace {

GrowthOptions options() {
  GrowthOptions o;
  o.constants = energy_tables()[0];
  return o;
}

TEST(EnergyGrowth, CoversTheRangeForEveryMechanism) {
  const Growth growth = energy_growth(mechanisms_for_growth(384), options());
  EXPECT_EQ(growth.curves.size(), counted_mechanisms().size());
  for (const GrowthCurve& curve : growth.curves) {
    EXPECT_EQ(curve.tokens.front(), 64);
    EXPECT_EQ(curve.tokens.back(), 65'536);
    for (std::size_t i = 1; i < curve.tokens.size(); ++i) {
      EXPECT_GT(curve.energy_pj[i], curve.energy_pj[i - 1]) << curve.mechanism.name;
    }
  }
}

/// d log E / d log N over the last octave.
double final_slope(const char* mechanism) {
  const Growth growth = energy_growth({{mechanism, {}}}, options());
  const GrowthCurve& curve = growth.curves[0];
  const std::size_t last = curve.tokens.size() - 1;
  return std::log(curve.energy_pj[last] / curve.energy_pj[last - 4]) /
         std::log(curve.tokens[last] / curve.tokens[last - 4]);
}

TEST(EnergyGrowth, IsQuadraticOrLinearAsTheMechanismIs) {
  for (const char* quadratic : {"softmax", "adder", "daft-full", "synthesizer"}) {
    EXPECT_NEAR(final_slope(quadratic), 2, 0.05) << quadratic;
  }
  for (const char* linear : {"hash", "performer", "linear", "linformer", "daft-conv", "additive"}) {
    EXPECT_NEAR(final_slope(linear), 1, 0.001) << linear;
  }
}

TEST(EnergyGrowth, CrossingsAreWhereTheOrderChanges) {
  const std::vector<MechanismChoice> mechanisms = mechanisms_for_growth(384);
  const GrowthOptions o = options();
  const Growth growth = energy_growth(mechanisms, o);
  EXPECT_FALSE(growth.crossings.empty());
  for (const Crossing& crossing : growth.crossings) {
    const auto energy = [&](std::size_t which, std::int64_t tokens) {
      Stage stage;
      stage.tokens = tokens;
      stage.width = o.width;
      stage.heads = o.heads;
      return attention_energy_pj(stage, mechanisms[which], o.convention, o.constants);
    };
    // In a tie the mechanism that is listed later does not count as cheaper.
    EXPECT_LE(energy(crossing.second, crossing.tokens), energy(crossing.first, crossing.tokens));
    EXPECT_GE(energy(crossing.second, crossing.tokens - 1),
              energy(crossing.first, crossing.tokens - 1));
  }
}

TEST(EnergyGrowth, RefusesImpossibleRanges) {
  GrowthOptions o = options();
  o.heads = 5;
  EXPECT_THROW((void)energy_growth({{"softmax", {}}}, o), Error);
  o = options();
  o.most_tokens = 64;
  EXPECT_THROW((void)energy_growth({{"softmax", {}}}, o), Error);
}

}  // namespace
}  // namespace attnscope
