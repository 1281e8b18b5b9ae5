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

}  // namespace
}  // namespace attnscope
