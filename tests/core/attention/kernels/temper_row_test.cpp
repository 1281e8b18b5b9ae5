// Weights of a row at another temperature, compared with a transcription in double.
#include "core/attention/kernels/temper_row.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace attnscope {
namespace {

/// Positive and negative weights that span six orders of magnitude.
std::vector<float> row_of(std::int64_t count) {
  std::vector<float> row;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(i);
    row.push_back(static_cast<float>(std::exp(7 * std::sin(1.7 * x)) * (i % 3 == 0 ? -1 : 1)));
  }
  return row;
}

TEST(TemperRow, RoundsLongRowsAsShortOnes) {
  for (const std::int64_t count : {1, 5, 197, 20'011}) {
    for (const double temperature : {0.5, 3.0}) {
      const std::vector<float> before = row_of(count);
      double sum = 0, powers = 0;
      for (const float value : before) {
        sum += std::abs(static_cast<double>(value));
        powers += std::pow(std::abs(static_cast<double>(value)), 1 / temperature);
      }
      std::vector<float> after = before;
      temper_row(after, temperature);
      for (std::size_t i = 0; i < after.size(); ++i) {
        const double weight = static_cast<double>(before[i]);
        const double wanted =
            std::copysign(std::pow(std::abs(weight), 1 / temperature) * sum / powers, weight);
        ASSERT_NEAR(after[i], wanted, 5e-6 * std::abs(wanted))
            << i << " of " << count << " at " << temperature;
      }
    }
  }
}

TEST(TemperRow, LeavesOutNonFiniteValues) {
  std::vector<float> row = row_of(197);
  std::vector<float> without = row;
  without[40] = 0;
  temper_row(without, 2);
  row[40] = std::numeric_limits<float>::quiet_NaN();
  temper_row(row, 2);
  EXPECT_TRUE(std::isnan(row[40]));
  EXPECT_EQ(without[40], 0);
  row[40] = 0;
  EXPECT_EQ(row, without);
}

}  // namespace
}  // namespace attnscope
