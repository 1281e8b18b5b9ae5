#include "analysis/spectrum/score_variance.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "core/error.h"

namespace attnscope {
namespace {

TEST(ScoreVariance, AgreesWithTheoremOne) {
  constexpr std::int64_t pairs = 20'000;
  for (const std::int64_t width : {2, 16, 64}) {
    const ScoreVariance drawn = score_variance(width, pairs, 1);
    EXPECT_DOUBLE_EQ(drawn.dot_product_predicted, static_cast<double>(width));
    EXPECT_DOUBLE_EQ(drawn.distance_predicted,
                     2 * static_cast<double>(width) * (1 - 2 / std::numbers::pi));
    // The error is six standard errors of a sample variance. The kurtosis is at most that of q · k
    // at width 1.
    const double error = 6 * std::sqrt(8.0 / static_cast<double>(pairs));
    EXPECT_NEAR(drawn.dot_product / drawn.dot_product_predicted, 1, error) << width;
    EXPECT_NEAR(drawn.distance / drawn.distance_predicted, 1, error) << width;
  }
}

TEST(ScoreVariance, IsTheSameForTheSameSeed) {
  EXPECT_EQ(score_variance(8, 100, 3).distance, score_variance(8, 100, 3).distance);
  EXPECT_NE(score_variance(8, 100, 3).distance, score_variance(8, 100, 4).distance);
}

TEST(ScoreVariance, RefusesImpossibleSizes) {
  EXPECT_THROW((void)score_variance(0, 100, 1), Error);
  EXPECT_THROW((void)score_variance(4, 1, 1), Error);
}

}  // namespace
}  // namespace attnscope
