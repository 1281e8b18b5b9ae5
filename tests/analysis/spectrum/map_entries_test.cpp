#include "analysis/spectrum/map_entries.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

TEST(MapEntries, AreCountedAndSummedWhateverTheWidth) {
  for (const std::int64_t columns : {1, 2, 3, 7, 8, 9, 17, 197}) {
    MatrixD map = random_normal({5, columns}, 3).matrix().cast<double>();
    map.row(2).setZero();
    map(4, columns - 1) = -1e3;  // in the last lanes
    const MapEntries found = entries_of(map);
    EXPECT_EQ(found.not_finite, 0);
    EXPECT_EQ(found.zero_rows, 1);
    EXPECT_EQ(found.least, -1e3);
    EXPECT_EQ(found.greatest, map.maxCoeff());
    EXPECT_NEAR(found.squares, map.squaredNorm(), 1e-14 * map.squaredNorm());
    map(0, columns - 1) = std::numeric_limits<double>::quiet_NaN();
    map(1, 0) = -std::numeric_limits<double>::infinity();
    map(2, columns / 2) = std::numeric_limits<double>::infinity();
    EXPECT_EQ(entries_of(map).not_finite, 3);
    EXPECT_EQ(entries_of(map).zero_rows, 0);
  }
}

TEST(MapEntries, ExtremesAreFoundInEveryLane) {
  for (const std::int64_t count : {1, 7, 8, 21}) {
    for (std::int64_t at = 0; at < count; ++at) {
      MatrixD numbers = MatrixD::Constant(1, count, 0.25);
      EXPECT_EQ(entries_of(numbers).least, 0.25) << "nothing from beyond the row";
      EXPECT_EQ(entries_of(-numbers).greatest, -0.25);
      numbers(0, at) = -2;
      EXPECT_EQ(entries_of(numbers).least, -2);
      EXPECT_EQ(entries_of(numbers).greatest, count > 1 ? 0.25 : -2);
      numbers(0, at) = 7;
      EXPECT_EQ(entries_of(numbers).greatest, 7);
      EXPECT_EQ(entries_of(numbers).not_finite, 0);
      for (const double wrong : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        numbers(0, at) = wrong;
        EXPECT_EQ(entries_of(numbers).not_finite, 1);
      }
    }
  }
}

TEST(MapEntries, AreZeroForEmptyMaps) {
  EXPECT_EQ(entries_of(MatrixD(0, 4)).zero_rows, 0);
  EXPECT_EQ(entries_of(MatrixD(3, 0)).zero_rows, 3);
}

}  // namespace
}  // namespace attnscope
