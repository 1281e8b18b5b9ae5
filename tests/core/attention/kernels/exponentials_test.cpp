#include "core/attention/kernels/exponentials.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace attnscope {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Floats of every exponent and both signs, infinities, and values around those at which exp
/// overflows and becomes 0.
std::vector<float> all_over() {
  std::vector<float> values = {0.0F, -0.0F, kInfinity, -kInfinity, 88.72283F, 88.722855F};
  for (int x = -1100; x <= 1100; ++x) values.push_back(static_cast<float>(x));
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFFU; bits += 65'521) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

/// Expects `found` to be within 4 units in the last place of the result in double, or of the
/// smallest normal number.
void expect_near(float found, double expected, float x) {
  if (expected > static_cast<double>(std::numeric_limits<float>::max())) {
    ASSERT_EQ(found, kInfinity) << x;
    return;
  }
  ASSERT_NEAR(static_cast<double>(found), expected,
              0x1p-21 * expected + static_cast<double>(std::numeric_limits<float>::min()))
      << x;
}

TEST(Exponentials, AreRightForEveryFloat) {
  const std::vector<float> x = all_over();
  std::vector<float> found = x;
  exponentiate(found.data(), std::ssize(found), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    expect_near(found[i], std::exp(static_cast<double>(x[i])), x[i]);
  }
  const std::vector<float> zeros(x.size(), 0.0F);
  std::vector<float> again(x.size());
  exponentiate(zeros.data(), x.data(), std::ssize(x), again.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    expect_near(again[i], std::exp(-static_cast<double>(x[i])), -x[i]);
  }
}

TEST(Exponentials, AreRightForEveryDouble) {
  constexpr double kMost = std::numeric_limits<double>::infinity();
  std::vector<double> x = {0.0, -0.0, kMost, -kMost, 709.78, 709.79, 800, 1500, -745.2, 1e300};
  for (double value = -760; value < 720; value += 0.37) x.push_back(value);
  for (double value = 1; value > 1e-300; value /= 7) x.insert(x.end(), {value, -value});
  std::vector<double> found = x;
  exponentiate(found.data(), std::ssize(found));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp(x[i]);
    if (std::isinf(expected)) {
      EXPECT_EQ(found[i], kMost) << x[i];
    } else {
      EXPECT_NEAR(found[i], expected, 0x1p-50 * expected + std::numeric_limits<double>::min())
          << x[i];
    }
  }
  std::vector<double> none(5, std::numeric_limits<double>::quiet_NaN());
  exponentiate(none.data(), std::ssize(none));
  for (const double value : none) EXPECT_TRUE(std::isnan(value));
}

TEST(Sigmoid, IsRightForEveryFloat) {
  const std::vector<float> x = all_over();
  std::vector<float> found(x.size());
  sigmoid(x.data(), std::ssize(x), found.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    expect_near(found[i], 1 / (1 + std::exp(-static_cast<double>(x[i]))), x[i]);
    ASSERT_GE(found[i], 0.0F);
    ASSERT_LE(found[i], 1.0F);
  }
}

TEST(Exponentials, AreSummedBelowTheLargestAsByLoops) {
  for (std::int64_t count = 0; count <= 70; ++count) {
    for (std::int64_t at = 0; at < std::max<std::int64_t>(count, 1); ++at) {
      std::vector<float> values;
      for (std::int64_t i = 0; i < count; ++i) {
        values.push_back(i == at ? 90.0F : 89.0F - static_cast<float>(i));
      }
      const float largest = exponentiate_below_largest(values.data(), count);
      EXPECT_EQ(largest, count > 0 ? 90.0F : -kInfinity);
      for (std::int64_t i = 0; i < count; ++i) {
        const float x = i == at ? 0.0F : static_cast<float>(-1 - i);
        expect_near(values[static_cast<std::size_t>(i)], std::exp(static_cast<double>(x)), x);
      }
    }
  }
}

TEST(Exponentials, NaNStaysNaN) {
  for (std::int64_t count = 1; count <= 33; ++count) {
    for (std::int64_t at = 0; at < count; ++at) {
      std::vector<float> values(static_cast<std::size_t>(count), 1.0F), out = values;
      values[static_cast<std::size_t>(at)] = kNaN;
      sigmoid(values.data(), count, out.data());
      std::vector<float> below = values;
      exponentiate_below_largest(below.data(), count);
      EXPECT_TRUE(std::isnan(below[static_cast<std::size_t>(at)]));
      exponentiate(values.data(), count, 0.5F);
      for (std::int64_t i = 0; i < count; ++i) {
        EXPECT_EQ(std::isnan(values[static_cast<std::size_t>(i)]), i == at);
        EXPECT_EQ(std::isnan(out[static_cast<std::size_t>(i)]), i == at);
      }
    }
  }
}

}  // namespace
}  // namespace attnscope
