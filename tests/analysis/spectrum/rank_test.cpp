#include "analysis/spectrum/rank.h"

#include <cmath>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

TEST(Rank, IsTheNumberOfEqualSingularValues) {
  const std::vector<double> equal(20, 3.0);
  EXPECT_EQ(equivalent_rank(equal, 0.9), 18);
  EXPECT_EQ(equivalent_rank(equal, 1.0), 20);
  EXPECT_EQ(equivalent_rank(equal, 1e-9), 1);
  EXPECT_NEAR(effective_rank(equal), 20, 1e-12);
  EXPECT_NEAR(stable_rank(equal), 20, 1e-12);
  EXPECT_EQ(numerical_rank(equal, 20), 20);
  EXPECT_NEAR(rank_one_distance(equal), std::sqrt(0.95), 1e-12);
}

TEST(Rank, IsOneForOneSingularValue) {
  const std::vector<double> one = {2, 0, 0, 0};
  EXPECT_EQ(equivalent_rank(one, 1.0), 1);
  EXPECT_EQ(effective_rank(one), 1);
  EXPECT_EQ(stable_rank(one), 1);
  EXPECT_EQ(numerical_rank(one, 4), 1);
  EXPECT_EQ(rank_one_distance(one), 0);
  EXPECT_EQ(cumulative_share(one), (std::vector<double>{1, 1, 1, 1}));
}

TEST(Rank, IsZeroForNoSingularValues) {
  for (const std::vector<double>& none : {std::vector<double>{}, std::vector<double>{0, 0, 0}}) {
    EXPECT_EQ(equivalent_rank(none, 0.9), 0);
    EXPECT_EQ(effective_rank(none), 0);
    EXPECT_EQ(stable_rank(none), 0);
    EXPECT_EQ(numerical_rank(none, 3), 0);
    EXPECT_EQ(rank_one_distance(none), 0);
    EXPECT_TRUE(cumulative_share(none).empty());
  }
}

TEST(Rank, FollowsTheThreshold) {
  const std::vector<double> values = {5, 3, 1, 1};  // f = 0.5, 0.8, 0.9, 1
  EXPECT_EQ(equivalent_rank(values, 0.5), 1);
  EXPECT_EQ(equivalent_rank(values, 0.51), 2);
  EXPECT_EQ(equivalent_rank(values, 0.8), 2);
  EXPECT_EQ(equivalent_rank(values, 0.9), 3);
  EXPECT_EQ(equivalent_rank(values, 1.0), 4);
  // The normalised values p are ½, 3/10, 1/10 and 1/10.
  EXPECT_NEAR(effective_rank(values),
              std::pow(0.5, -0.5) * std::pow(0.3, -0.3) * std::pow(0.1, -0.2), 1e-12);
  EXPECT_NEAR(stable_rank(values), 36.0 / 25, 1e-12);
  EXPECT_NEAR(rank_one_distance(values), std::sqrt(11.0 / 36), 1e-12);
}

TEST(Rank, ShareOfSquaresIsReachedEarlier) {
  const std::vector<double> values = {5, 3, 1, 1};  // σ² / Σσ²: 25, 9, 1 and 1 of 36
  const auto rank = [&](double tau) { return equivalent_rank(values, {tau, RankShare::energy}); };
  EXPECT_EQ(rank(0.69), 1);
  EXPECT_EQ(rank(0.7), 2);
  EXPECT_EQ(rank(0.94), 2);
  EXPECT_EQ(rank(0.95), 3);
  EXPECT_EQ(rank(1), 4);
  const std::vector<double> share = cumulative_share(values, RankShare::energy);
  ASSERT_EQ(share.size(), 4U);
  EXPECT_NEAR(share[0], 25.0 / 36, 1e-15);
  EXPECT_NEAR(share[1], 34.0 / 36, 1e-15);
  EXPECT_EQ(equivalent_rank(std::vector<double>{0, 0}, {0.9, RankShare::energy}), 0);
}

TEST(Rank, ThresholdSaysWhatItIsAShareOf) {
  EXPECT_EQ(to_string(RankThreshold()), "τ = 0.9 of Σσ");
  EXPECT_EQ(to_string(RankThreshold(0.95, RankShare::energy)), "τ = 0.95 of Σσ²");
  EXPECT_EQ(rank_in_words(0.9), "smallest r whose σ_1 … σ_r hold 0.9 of Σσ");
}

TEST(Rank, NumericalRankCountsAboveNumPysTolerance) {
  const double tolerance = 100 * 0x1p-23;
  const std::vector<double> values = {1, 1.01 * tolerance, 0.99 * tolerance};
  EXPECT_EQ(numerical_rank(values, 100), 2);
  EXPECT_EQ(numerical_rank(values, 100, 0x1p-52), 3);
}

TEST(Rank, LinearShareRisesToOne) {
  EXPECT_EQ(linear_share(4), (std::vector<double>{0.25, 0.5, 0.75, 1}));
  EXPECT_TRUE(linear_share(0).empty());
}

}  // namespace
}  // namespace attnscope
