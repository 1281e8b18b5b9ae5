#include "analysis/heads/row_entropy.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace attnscope {
namespace {

TEST(RowEntropy, IsMinusTheSumOfPLnP) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-40, 0);
  for (const std::size_t count : {0U, 1U, 3U, 8U, 9U, 50U, 197U}) {
    std::vector<double> weights;
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      weights.push_back(i % 5 == 3 ? 0 : std::pow(10.0, exponent(random)));
      if (weights.back() > 0) expected -= weights.back() * std::log(weights.back());
    }
    EXPECT_NEAR(entropy_of(weights), expected, 1e-14 * (1 + expected));
  }
  EXPECT_NEAR(entropy_of(std::vector<double>(16, 1.0 / 16)), std::log(16), 1e-14);
}

TEST(RowEntropy, RowsAreDividedByTheirSumsAndAddedUp) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> weight(0, 3);
  for (const std::size_t count : {1U, 3U, 8U, 9U, 50U, 197U}) {
    std::vector<double> totals(count, 0.5), expected = totals;
    for (int row = 0; row < 4; ++row) {
      std::vector<double> weights, shares(count, 0.0);
      for (std::size_t i = 0; i < count; ++i) weights.push_back(row == 2 ? 0 : weight(random));
      double sum = 0;
      for (const double one : weights) sum += one;
      for (std::size_t i = 0; sum > 0 && i < count; ++i)
        expected[i] += shares[i] = weights[i] / sum;
      EXPECT_NEAR(normalise(weights, totals), entropy_of(shares), 1e-13);
      for (std::size_t i = 0; i < count; ++i) ASSERT_NEAR(weights[i], shares[i], 1e-15);
    }
    for (std::size_t i = 0; i < count; ++i) ASSERT_NEAR(totals[i], expected[i], 1e-14);
  }
}

}  // namespace
}  // namespace attnscope
