#include "core/attention/kernels/gelu.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace attnscope {
namespace {

TEST(Gelu, IsRightToTheRoundingOfFloat) {
  std::vector<float> x;
  for (int i = -12000; i <= 12001; ++i) x.push_back(static_cast<float>(i) * 1e-3F);
  for (const float small : {1e-7F, -1e-7F, 1e-30F, 0.0F}) x.push_back(small);
  std::vector<float> found = x;
  gelu(found.data(), std::ssize(found));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = static_cast<double>(x[i]);
    const double expected = 0.5 * exact * (1 + std::erf(exact / std::sqrt(2.0)));
    ASSERT_NEAR(found[i], expected, 1e-7 * std::abs(expected) + 8e-8) << x[i];
  }
}

TEST(Gelu, HandlesInfinityNaNAndLargeValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = {kInfinity, std::numeric_limits<float>::quiet_NaN(), -1e30F, 1e30F};
  gelu(x.data(), std::ssize(x));
  EXPECT_EQ(x[0], kInfinity);
  EXPECT_TRUE(std::isnan(x[1]));
  EXPECT_EQ(x[2], 0);
  EXPECT_EQ(x[3], 1e30F);
}

}  // namespace
}  // namespace attnscope
